/**
 * Reads the contract for the reference page: as OpenAPI 3.1, and with exact numbers. `follow` and `flat` replace
 * references.
 */
import { stringify } from 'lossless-json';
import type { AnyContract, Operation } from '../../engine/contract/contract.ts';
import type { Document, Method, OperationNode, ParameterNode, PathItem } from '../../engine/contract/document.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import { withNames } from '../../engine/contract/path-names.ts';
import { isNode, type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { lookUp } from '../../engine/schema/keys.ts';
import { mergeAllOf, strictestOf } from '../../engine/schema/value-types.ts';
import { fromPointerToken } from '../../json/pointer.ts';
import { toCurrent } from '../read/normal-form.ts';

export interface DocumentSource {
  document: Document;
  /**
   * Returns the target of a reference, with the description next to the reference. Returns a node without `$ref`
   * unchanged.
   */
  follow<Kind>(node: Kind): Kind;
  /** Follows the `$ref` of a schema, and merges its `allOf`. Returns the same object for the same schema. */
  flat(schema: Schema | undefined): Keywords;
  nodesOf(operation: Operation): { source: OperationNode; parameters: ParameterNode[] };
}

export function toSource({ json }: Pick<AnyContract, 'json'>): DocumentSource {
  const read = parseWithBigints(json) as Document;
  const document = read.openapi.startsWith('3.0.') ? toCurrent(read) : read;
  const items = new Map(Object.entries(document.paths ?? {}).map(([path, item]) => [withNames(path), item]));
  const flats = new WeakMap<Keywords, Keywords>();
  const joinParts = buildJoinParts();

  function follow<Kind>(node: Kind, seen?: Set<unknown>): Kind;
  function follow(node: unknown, seen = new Set()): unknown {
    if (!isNode(node) || typeof node.$ref !== 'string' || seen.has(node)) return node;
    const target = follow(lookUp(document, node.$ref), seen.add(node));
    return isNode(target) && node.description ? { ...target, description: node.description } : target;
  }

  /** The recursion ends, because an `allOf` that leads to itself is a build error. */
  function flat(schema: Schema | undefined): Keywords {
    const node = keywordsOf(schema);
    const known = flats.get(node);
    if (known) return known;
    const { $ref, allOf = [], ...own } = node;
    const targets = typeof $ref === 'string' ? [lookUp(document, $ref) as Schema, ...allOf] : allOf;
    const parts = [own, ...targets.map(flat)].filter((part) => Object.keys(part).length > 0);
    const made = parts.length > 1 ? joinParts(parts, own) : (parts[0] ?? {});
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

/**
 * Builds a function that merges the subschemas of an `allOf`. If the schema itself lacks a description, the merged
 * schema gets the descriptions of all subschemas.
 */
function buildJoinParts() {
  const joined = new Map<string, Schema>();
  const partsOfJoined = new Map<Schema, Schema[]>();

  /**
   * Returns one schema for a field that several subschemas describe. Returns the same object for equal subschemas,
   * because the page recognizes a recursive schema by its object.
   */
  function joinFields(fields: Schema[]): Schema {
    const parts = fields.flatMap((field) => partsOfJoined.get(field) ?? [field]);
    const byText = new Map(parts.map((part) => [stringify(part) as string, part]));
    const [first = true, ...others] = byText.values();
    if (others.length === 0) return first;
    const key = [...byText.keys()].join();
    const made = joined.get(key) ?? { allOf: [...byText.values()] };
    joined.set(key, made);
    partsOfJoined.set(made, [...byText.values()]);
    return made;
  }

  return function joinParts(parts: Keywords[], { description }: Keywords): Keywords {
    const texts = new Set(parts.flatMap((part) => part.description ?? []));
    const fields = new Map<string, Schema[]>();
    for (const { properties = {} } of parts)
      for (const [name, field] of Object.entries(properties)) fields.set(name, [...(fields.get(name) ?? []), field]);
    return {
      ...mergeAllOf({ allOf: parts }),
      ...strictestOf(parts),
      ...(texts.size > 0 && { description: description ?? [...texts].join('\n\n') }),
      properties: Object.fromEntries([...fields].map(([name, all]) => [name, joinFields(all)])),
    };
  };
}

/**
 * Returns the name of the component that a schema refers to, by its `$ref` or by an `allOf` with one reference. Other
 * subschemas of this `allOf` may contain only a description.
 */
export function componentNameOf(schema: Schema | undefined): string | undefined {
  const { $ref, allOf = [] } = keywordsOf(schema);
  if (typeof $ref === 'string') return /^#\/components\/schemas\/([^/]+)$/.exec(fromPointer($ref))?.[1];
  const rules = allOf.filter((part) => Object.keys(keywordsOf(part)).some((key) => key !== 'description'));
  return rules.length === 1 && !keywordsOf(schema).properties ? componentNameOf(rules[0]) : undefined;
}

const fromPointer = ($ref: string): string =>
  fromPointerToken(decodeURIComponent($ref.replace(/%(?![0-9A-F]{2})/gi, '%25')));
