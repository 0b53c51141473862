/** Reads the finished contract: a file that the build writes for the server. */
import { createHash } from 'node:crypto';
import { int64sOf } from '../schema/int64-map.ts';
import { isNode, type Keywords } from '../schema/json.ts';
import { toRecursion } from '../schema/subschemas.ts';
import { type Contract, ContractError, type Operation, type Parameter, type Reply } from './contract.ts';
import { parseWithBounds } from './numbers.ts';

/** The version of the file's format. Increase it whenever the format changes. */
export const FORMAT = 2;

/** The contents of the file, which is JSON. */
export interface FinishedFile {
  format: number;
  /** The SHA-256 of the contract's YAML file. The server serves that file unchanged. */
  sha256: string;
  /** The SHA-256 of `json`. */
  digest: string;
  /** The contract as JSON, with every digit of its numbers. */
  json: string;
  serversAt?: Finished['serversAt'];
  firstRequest?: Finished['firstRequest'];
  /** The other properties of the contract (`Facts`), as the JSON text of a `Graph`. */
  facts: string;
}

type WithoutInt64s<Part> = Omit<Part, 'int64s' | 'others'>;
export type WrittenReply = WithoutInt64s<Reply> & { others: WrittenReply[] };

/**
 * An operation as it is written to the file. Dates are texts. The maps of 64-bit integers are omitted: they are made
 * again from the schemas when the file is read.
 */
export interface WrittenOperation extends Omit<Operation, 'parameters' | 'replies' | 'deprecation'> {
  parameters: WithoutInt64s<Parameter>[];
  replies: WrittenReply[];
  deprecation?: { at?: string; sunset?: string; successor?: string } | undefined;
}

/** The contract without the page, which is in a separate file. */
export type Finished = Omit<Contract, 'loadPage'>;

/** The properties of the contract that the file contains under `facts`. */
export interface Facts
  extends Omit<Finished, 'yaml' | 'json' | 'serversAt' | 'digest' | 'publicPath' | 'operations' | 'firstRequest'> {
  operations: WrittenOperation[];
}

export const sha256Of = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

const STALE = 'it has changed since this program was built: run `npm run generate`, and build again';

/**
 * Reads the finished contract.
 * @throws ContractError if the file was made from a different contract, or by another version of the package
 */
export function readFinished(
  { format, sha256, digest, json, serversAt, firstRequest, facts }: FinishedFile,
  yaml: Buffer,
): Finished {
  if (format !== FORMAT || sha256 !== sha256Of(yaml)) throw new ContractError([STALE]);
  const { operations, ...others } = readGraph(facts) as Facts;
  const read = operations.map((operation): [string, Operation] => [operation.id, toOperation(operation)]);
  return { yaml, json, serversAt, digest, publicPath: '', ...others, firstRequest, operations: new Map(read) };
}

function toOperation({ parameters, replies, deprecation, ...others }: WrittenOperation): Operation {
  return {
    ...others,
    parameters: parameters.map((parameter) => ({ ...parameter, int64s: int64sOf(parameter.schema) })),
    replies: replies.map(toReply),
    deprecation: deprecation && {
      at: toDate(deprecation.at),
      sunset: toDate(deprecation.sunset),
      successor: deprecation.successor,
    },
  };
}

function toReply(written: WrittenReply): Reply {
  return { ...written, int64s: int64sOf(written.schema), others: written.others.map(toReply) };
}

const toDate = (text: string | undefined) => (text === undefined ? undefined : new Date(text));

interface Graph {
  /**
   * The key that marks a reference inside the graph, such as `$shared`. `{"$shared": 3}` then means part 3.
   * `{"$shared": 3, "of": "#/x"}` means a recursive schema with `"$ref": "#/x"`, and the target of this reference is
   * the part `targets[3]`.
   */
  marker: string;
  /**
   * Nodes that occur several times in the graph, or that recursive schemas refer to. A part comes after all parts that
   * it contains.
   */
  parts: unknown[];
  /** The index of each part that recursive schemas refer to. */
  targets: number[];
  root: Node;
}

type Node = Record<string, unknown>;

/**
 * Reads a graph that the build has written. References to the same part become the same object, and recursive schemas
 * get their targets.
 */
function readGraph(json: string): unknown {
  const { marker, parts, targets, root } = parseWithBounds(json) as Graph;

  function link(node: Node): unknown {
    const { [marker]: number, of } = node;
    if (typeof number !== 'number') return linkFields(node);
    return typeof of === 'string' ? toRecursion(of, () => parts[targets[number] as number] as Keywords) : parts[number];
  }

  function linkFields(node: Node): unknown {
    for (const [key, value] of Object.entries(node)) {
      // An assignment would not set a key called `__proto__`, so the property is defined.
      if (isNode(value)) Object.defineProperty(node, key, { value: link(value) });
    }
    return node;
  }

  for (const [index, part] of parts.entries()) parts[index] = link(part as Node);
  return link(root);
}
