/** The contract as a page shows it: OpenAPI 3.1, with exact numbers and without references. */
import type { AnyContract, Operation } from '../../engine/contract/contract.ts';
import type { Document, Method, OperationNode, ParameterNode, PathItem } from '../../engine/contract/document.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import { withNames } from '../../engine/contract/path-names.ts';
import { isNode, type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { lookUp } from '../../engine/schema/keys.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import { fromPointerToken } from '../../json/pointer.ts';
import { toCurrent } from '../read/normal-form.ts';

export interface DocumentSource {
  document: Document;
  /** Returns the target of a reference, with the description next to the reference. Returns any other node itself. */
  follow<Kind>(node: Kind): Kind;
  /** Follows the reference of a schema, and merges its `allOf`. Returns the same object for the same schema. */
  flat(schema: Schema | undefined): Keywords;
  nodesOf(operation: Operation): { source: OperationNode; parameters: ParameterNode[] };
}

export function toSource({ json }: Pick<AnyContract, 'json'>): DocumentSource {
  const read = parseWithBigints(json) as Document;
  const document = read.openapi.startsWith('3.0.') ? toCurrent(read) : read;
  const items = new Map(Object.entries(document.paths ?? {}).map(([path, item]) => [withNames(path), item]));
  const flats = new WeakMap<Keywords, Keywords>();

  function follow<Kind>(node: Kind, seen?: Set<unknown>): Kind;
  function follow(node: unknown, seen = new Set()): unknown {
    if (!isNode(node) || typeof node.$ref !== 'string' || seen.has(node)) return node;
    const target = follow(lookUp(document, node.$ref), seen.add(node));
    return isNode(target) && node.description ? { ...target, description: node.description } : target;
  }

  /** Always ends: an `allOf` that leads to itself is a build error. */
  function flat(schema: Schema | undefined): Keywords {
    const node = keywordsOf(schema);
    const known = flats.get(node);
    if (known) return known;
    const { $ref, allOf = [], ...own } = node;
    const targets = typeof $ref === 'string' ? [lookUp(document, $ref) as Schema, ...allOf] : allOf;
    const made = mergeAllOf({ ...own, allOf: targets.map(flat) });
    flats.set(node, made);
    return made;
  }

  return {
    document,
    follow: (node) => follow(node),
    flat,
    nodesOf({ path, method }) {
      const item = follow(items.get(path)) as PathItem;
      const source = item[method.toLowerCase() as Method] as OperationNode;
      const own = (source.parameters ?? []).map((one) => follow(one));
      const isOwn = ({ name, in: location }: ParameterNode) =>
        own.some((one) => one.name === name && one.in === location);
      const shared = (item.parameters ?? []).map((one) => follow(one)).filter((one) => !isOwn(one));
      return { source, parameters: [...shared, ...own] };
    },
  };
}

/** The name of the component that a schema refers to, directly or as the only part of its `allOf`. */
export function componentNameOf(schema: Schema | undefined): string | undefined {
  const { $ref, allOf = [] } = keywordsOf(schema);
  if (typeof $ref === 'string') return /^#\/components\/schemas\/([^/]+)$/.exec(fromPointer($ref))?.[1];
  return allOf.length === 1 && !keywordsOf(schema).properties ? componentNameOf(allOf[0]) : undefined;
}

const fromPointer = ($ref: string): string =>
  fromPointerToken(decodeURIComponent($ref.replace(/%(?![0-9A-F]{2})/gi, '%25')));
