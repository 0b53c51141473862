/** The contract as fastify-openapi-glue can take it. */
import type { AnyContract } from '../engine/contract/contract.ts';
import { type Document, mapOperations, type OperationNode } from '../engine/contract/document.ts';
import { isNode } from '../engine/schema/json.ts';
import { lookUp } from '../engine/schema/keys.ts';
import { hasFalseReferences, withoutFalseReferences } from './schema/false-references.ts';

/**
 * How many nodes a schema may have, with a copy of another at each reference to it: glue walks it so. Counted so, Stripe's contract of
 * 2.5 MB has schemas with more nodes than fit into memory.
 */
const MOST_NODES = 1000;
const SCHEMA = '#/components/schemas/';

/** Plugins see `{}` in place of a larger schema; the contract's own checks know all of it. */
export function toGlueDocument(contract: Pick<AnyContract, 'json' | 'document'>): Document {
  const given = withoutTraps(contract.document);
  const document = hasFalseReferences(contract.json, given) ? withoutFalseReferences(given) : given;
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

function withoutTraps(document: Document): Document {
  const paths = Object.entries(document.paths).map(([path, item]) => [path, mapOperations(item, withoutTrap)]);
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Glue leaves out an operation with `x-no-fastify-config`, and ends the start at other words that are null, or have a `content`. */
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

  /** Stops when too many are counted. A schema ends where it meets itself, or one that is left out. */
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
