/** Finishes a contract: checks it, and writes everything that the server and fastify-openapi-glue need from it. */
import {
  type AnyContract,
  ContractError,
  type Operation,
  type ReadContract,
  type Reply,
} from '../engine/contract/contract.ts';
import { type Document, mapOperations, type OperationNode } from '../engine/contract/document.ts';
import {
  type Facts,
  type FinishedFile,
  FORMAT,
  sha256Of,
  type WrittenOperation,
  type WrittenReply,
} from '../engine/contract/finished.ts';
import { notImplemented } from '../engine/errors/catalogue.ts';
import type { TeamParts } from '../engine/routes/compiled-operations.ts';
import { findUnmatched } from '../engine/routes/compiled-operations.ts';
import { isNode } from '../engine/schema/json.ts';
import { lookUp } from '../engine/schema/keys.ts';
import type { AnyDomain } from '../store/tables/description.ts';
import { checkOperations } from './checks/checked-operations.ts';
import { findProven, toRecords } from './checks/records.ts';
import { withLocations } from './located-problems.ts';
import { loadContract } from './read/load-contract.ts';
import { mapPaths } from './read/normal-form.ts';
import { withTrueReferences } from './read/references.ts';
import { toTokenSchemes } from './read/security.ts';
import { writeGraph } from './written-graph.ts';

/** Makes the finished contract from a contract that `checkOperations` has accepted. */
export function finish(contract: ReadContract, domain: AnyDomain): FinishedFile {
  const { yaml, json, serversAt, digest, document, resolved, title, prefix, keyLocations, operations } = contract;
  const records = toRecords(contract, domain);
  const facts: Facts = {
    ...{ document, resolved, title, prefix, keyLocations, records },
    glueDocument: toGlueDocument(contract),
    tokenSchemes: toTokenSchemes(resolved),
    operations: [...operations.values()].map(toWritten),
    proven: findProven(operations, records),
  };
  return { format: FORMAT, sha256: sha256Of(yaml), digest, json, serversAt, facts: writeGraph(facts) };
}

function toWritten({ parameters, replies, deprecation, ...others }: Operation): WrittenOperation {
  return {
    ...others,
    parameters: parameters.map(({ int64s: _, ...parameter }) => parameter),
    replies: replies.map(toWrittenReply),
    deprecation: deprecation && JSON.parse(JSON.stringify(deprecation)),
  };
}

function toWrittenReply({ int64s: _, others, ...reply }: Reply): WrittenReply {
  return { ...reply, others: others.map(toWrittenReply) };
}

/** The files that the build writes. */
export interface FinishedFiles {
  file: FinishedFile;
  /** The contract as the server sends it. */
  yaml: Buffer;
}

/**
 * Checks and finishes the contract of a service, as the build does. @throws ContractError that lists problems, each
 * with its location
 */
export async function finishFile(file: URL, service: TeamParts & { handlers: object }): Promise<FinishedFiles> {
  try {
    const contract = await loadContract(file);
    const unmatched = findUnmatched([...contract.operations.keys()], Object.keys(service.handlers));
    if (unmatched.length > 0) throw new ContractError(unmatched);
    const handlers = Object.entries(service.handlers);
    const unimplemented = new Set(handlers.flatMap(([id, handler]) => (handler === notImplemented ? [id] : [])));
    checkOperations(contract, { ...service, unimplemented });
    return { file: finish(contract, service.domain), yaml: contract.yaml };
  } catch (error) {
    throw await withLocations(error, file);
  }
}

/**
 * The maximum number of nodes in a schema for glue. Glue copies a schema at each reference to it, so the nodes of the
 * copies count as well. Some of the schemas in Stripe's contract of 2.5 MB do not fit into memory after this copying.
 */
const MOST_NODES = 1000;
const SCHEMA = '#/components/schemas/';

/**
 * Returns the contract in a form that fastify-openapi-glue can load. References to large schemas are replaced by `{}`
 * for plugins that read the routes. The server's own checks use the complete schemas.
 */
function toGlueDocument(contract: Pick<AnyContract, 'json' | 'document'>): Document {
  const given = mapPaths(contract.document, (item) => mapOperations(item, withoutTrap));
  const document = withTrueReferences(given, contract.json);
  const isLarge = buildIsLarge(document);

  function trim<Kind>(node: Kind): Kind;
  function trim(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(trim);
    if (!isNode(node)) return node;
    if (isReference(node) && isLarge(node.$ref)) return {};
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, trim(value)]));
  }

  const names = Object.keys(document.components?.schemas ?? {});
  return names.some((name) => isLarge(SCHEMA + name)) ? trim(document) : document;
}

/**
 * Removes keywords that glue cannot handle. Glue skips operations with `x-no-fastify-config`, and throws at an `x-`
 * keyword with a value that is null or contains `content`.
 */
function withoutTrap(operation: OperationNode): OperationNode {
  const isTrap = (key: string, value: unknown) =>
    key === 'x-no-fastify-config' ||
    (key.startsWith('x-') && (value === null || Object.hasOwn(Object(value), 'content')));
  return Object.fromEntries(Object.entries(operation).filter(([key, value]) => !isTrap(key, value)));
}

const isReference = (node: { $ref?: unknown }): node is { $ref: string } =>
  typeof node.$ref === 'string' && node.$ref.startsWith(SCHEMA);

function buildIsLarge(document: Document): ($ref: string) => boolean {
  const known = new Map<string, boolean>();

  /**
   * True if a schema has more than `MOST_NODES` nodes, including the nodes of referenced schemas. Counting stops at
   * this limit. Does not count a schema again inside itself. Does not count a schema that is already known to be large,
   * because `trim` replaces references to it by `{}`.
   */
  function count($ref: string): boolean {
    let left = MOST_NODES;
    const open = new Set<string>();
    const isBeyond = (node: unknown): boolean => {
      if (typeof node !== 'object' || node === null) return false;
      if (--left < 0) return true;
      return isNode(node) && isReference(node) ? isBeyondTarget(node.$ref) : Object.values(node).some(isBeyond);
    };
    const isBeyondTarget = (target: string): boolean => {
      if (open.has(target) || known.get(target)) return false;
      open.add(target);
      const isLarge = isBeyond(lookUp(document, target));
      open.delete(target);
      return isLarge;
    };
    return isBeyondTarget($ref);
  }

  return ($ref) => {
    const isLarge = known.get($ref) ?? count($ref);
    known.set($ref, isLarge);
    return isLarge;
  };
}
