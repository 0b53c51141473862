/**
 * Prepares the schemas of a contract for openapi-typescript, which finds only schemas with a name, and cannot write the
 * type of an array that contains itself.
 */
import type { Document } from '../../engine/contract/document.ts';
import { isNode, type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { isNames, isValue, lookUp, toPointer } from '../../engine/schema/keys.ts';
import { subschemasOf } from '../../engine/schema/subschemas.ts';
import { fromPointerToken } from '../../json/pointer.ts';
import { type CheckedCode, checkedName, code } from './source-text.ts';

type Named = Record<string, Schema>;

const COMPONENTS = '#/components/schemas/';
/** Matches keys of a JSON Pointer that are left out of a schema's new name, because they do not describe the schema. */
const SILENT = /^(components|schemas|paths|properties|definitions|\$defs|responses|content|schema|)$/;

/** The key for the name of the TypeScript type, in the schema of a recursive array. */
export const LIST: unique symbol = Symbol('list');
export type Listed = Keywords & { [LIST]?: string };

/**
 * Gives each target of a reference to a schema a name in `components/schemas`. Replaces all references to other nodes
 * by their targets, if openapi-typescript cannot follow them.
 */
export function nameTargets(document: Document): void {
  document.components ??= {};
  document.components.schemas ??= {};
  const { schemas } = document.components;
  const names = new Map<string, string>();

  function toNamed($ref: string): string {
    const target = lookUp(document, $ref) as Schema | undefined;
    const steps = toPointer($ref)?.split('/').map(fromPointerToken) ?? [];
    if (target === undefined || (steps.length === 3 && $ref.startsWith(COMPONENTS))) return $ref;
    const name = names.get($ref) ?? addSchema(schemas, target, steps.filter((step) => !SILENT.test(step)).join('_'));
    names.set($ref, name);
    return COMPONENTS + name;
  }

  function visit(node: unknown, isSchema: boolean, hasNames = false): void {
    if (!isNode(node)) return;
    if (!hasNames && typeof node.$ref === 'string') {
      if (isSchema) node.$ref = toNamed(node.$ref);
      else replace(node, document);
    }
    for (const [key, child] of Object.entries(node)) {
      if (hasNames) visit(child, isSchema);
      else if (!isSchema || !isValue(key)) visit(child, isSchema || /^schemas?$/.test(key), isNames(key));
    }
  }

  visit(document, false);
}

/** Matches the references to other nodes than schemas that openapi-typescript can follow. */
const FOUND = /^#\/(components|paths|webhooks)\//;

/**
 * Replaces a reference by its target, if openapi-typescript cannot follow the reference. Does not read other files or
 * URLs.
 */
function replace(node: Record<string, unknown>, document: Document, seen = new Set<unknown>()): void {
  const { $ref, ...beside } = node;
  if (typeof $ref !== 'string' || FOUND.test($ref)) return;
  delete node.$ref;
  if (seen.has($ref)) return;
  Object.assign(node, structuredClone(lookUp(document, $ref)), beside);
  replace(node, document, seen.add($ref));
}

/**
 * Adds the schema to the components under the wanted name. If this name is taken, adds a number to it. Returns the
 * name.
 */
function addSchema(schemas: Named, schema: Schema, wanted: string): string {
  const word = wanted.replace(/\W+/g, '_').replace(/^_|_$/g, '');
  let name = word;
  for (let number = 2; Object.hasOwn(schemas, name); number++) name = `${word}_${number}`;
  schemas[name] = schema;
  return name;
}

/**
 * Makes an interface for each array that contains itself, directly or through other arrays. Returns the interfaces.
 * Without them, the type would be `A: A[]`, which is a compile error.
 */
export function toListTypes(document: Document): CheckedCode[] {
  const schemas = document.components?.schemas as Named;
  const types = new Map<string, string>();
  for (const [name, schema] of Object.entries(schemas)) {
    for (const list of withParts(schema).filter((part) => isItself(part, document))) {
      const { prefixItems, items } = list;
      const item = prefixItems ? { anyOf: [prefixItems, items ?? []].flat() } : keywordsOf(items);
      const $ref = item.$ref ?? COMPONENTS + addSchema(schemas, item, `${name}_item`);
      const type = types.get($ref) ?? `List${types.size + 1}`;
      types.set($ref, type);
      list[LIST] = type;
    }
  }
  return [...types].map(([$ref, type]) => {
    const item = $ref.slice(COMPONENTS.length);
    return code`interface ${checkedName(type)} extends Array<components['schemas'][${item}]> {}\n`;
  });
}

/** Returns the subschemas that describe the same value, and the schemas of its items. */
const partsOf = (schema: Keywords): Listed[] =>
  subschemasOf(schema)
    .filter(({ keyword }) => /^((all|any|one)Of|items|prefixItems)$/.test(keyword))
    .map(({ subschema }) => keywordsOf(subschema));

const withParts = (schema: Schema): Listed[] => [keywordsOf(schema), ...partsOf(keywordsOf(schema)).flatMap(withParts)];

/**
 * True if the array contains itself without an object in between. With an object in between, TypeScript accepts a type
 * that refers to itself.
 */
function isItself(list: Keywords, document: Document, seen = new Set<Keywords>()): boolean {
  const leads = (part: Keywords): boolean => {
    if (seen.has(part)) return part === list;
    seen.add(part);
    const target = lookUp(document, part.$ref);
    return [...partsOf(part), ...(isNode(target) ? [target] : [])].some(leads);
  };
  return [list.type].flat().includes('array') && leads(list);
}
