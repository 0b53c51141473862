/** The finished contract: the file that the build writes, and the server reads. */
import { createHash } from 'node:crypto';
import { int64sOf } from '../schema/int64-map.ts';
import { isNode, type Keywords } from '../schema/json.ts';
import { toRecursion } from '../schema/subschemas.ts';
import { type Contract, ContractError, type Operation, type Parameter, type Reply } from './contract.ts';
import { parseWithBounds } from './numbers.ts';

/** The version of the file's form, to be raised whenever the form changes. */
export const FORMAT = 2;

/** The form of the file, as JSON. */
export interface FinishedFile {
  format: number;
  /** SHA-256 of the contract's YAML, which is served byte for byte. */
  sha256: string;
  /** SHA-256 of `json`. */
  digest: string;
  /** The contract as JSON, with every digit. */
  json: string;
  serversAt?: Finished['serversAt'];
  firstRequest?: Finished['firstRequest'];
  /** The facts, as a graph. */
  facts: string;
}

type WithoutInt64s<Part> = Omit<Part, 'int64s' | 'others'>;
export type WrittenReply = WithoutInt64s<Reply> & { others: WrittenReply[] };

/** An operation in its written form. Dates are texts, and the maps of 64-bit integers are left out, since reading finds them again. */
export interface WrittenOperation extends Omit<Operation, 'parameters' | 'replies' | 'deprecation'> {
  parameters: WithoutInt64s<Parameter>[];
  replies: WrittenReply[];
  deprecation?: { at?: string; sunset?: string; successor?: string } | undefined;
}

/** Everything of a contract except its page, which is a separate file. */
export type Finished = Omit<Contract, 'loadPage'>;

/** The facts in their written form. */
export interface Facts
  extends Omit<Finished, 'yaml' | 'json' | 'serversAt' | 'digest' | 'publicPath' | 'operations' | 'firstRequest'> {
  operations: WrittenOperation[];
}

export const sha256Of = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

const STALE = 'it has changed since this program was built: run `npm run generate`, and build again';

/** Reads the finished contract. @throws ContractError if the file was made from a different contract, or by another version */
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
  /** The key of references. `{"$shared": 3}` means part 3. With `of`, it means a recursive schema with this `$ref` and target 3. */
  marker: string;
  /** Parts that are used several times or that references point to, each after the parts that it contains. */
  parts: unknown[];
  /** The parts that recursive schemas refer to. */
  targets: number[];
  root: Node;
}

type Node = Record<string, unknown>;

/** Reads a graph of values that the build has written as JSON: equal parts are one object, and recursive schemas refer to their targets. */
function readGraph(json: string): unknown {
  const { marker, parts, targets, root } = parseWithBounds(json) as Graph;

  function link(node: Node): unknown {
    const { [marker]: number, of } = node;
    if (typeof number !== 'number') return linkFields(node);
    return typeof of === 'string' ? toRecursion(of, () => parts[targets[number] as number] as Keywords) : parts[number];
  }

  function linkFields(node: Node): unknown {
    for (const [key, value] of Object.entries(node)) {
      // Setting the key `__proto__` also works.
      if (isNode(value)) Object.defineProperty(node, key, { value: link(value) });
    }
    return node;
  }

  for (const [index, part] of parts.entries()) parts[index] = link(part as Node);
  return link(root);
}
