/**
 * Corrects schemas that no value can fit, if their meaning is clear, and removes faulty components that no operation
 * uses.
 */
import { isDeepStrictEqual } from 'node:util';
import { reportKeywordTypes } from '../../../contract/read/keyword-types.ts';
import { isNode, type Keywords } from '../../../engine/schema/json.ts';
import { ANNOTATION, isNames, isValue, lookUp } from '../../../engine/schema/keys.ts';
import { toPointerToken } from '../../../json/pointer.ts';
import type { Node, ReportChange } from './written.ts';

/** Matches annotations that change which values the server accepts or sends. `withoutWords` keeps them. */
const MEANT = /^(default|readOnly|writeOnly)$/;

/**
 * Keywords that combine schemas. A schema with one of them may require fields that another schema describes. The same
 * is true for a subschema of `allOf`, `anyOf` or `oneOf`.
 */
const COMPOSING_KEYWORDS = ['$ref', 'allOf', 'anyOf', 'oneOf'];
const COMPOSED = /\/(all|any|one)Of\/[0-9]+$/;
const EXTRA_FIELD_KEYWORDS = ['additionalProperties', 'patternProperties', 'unevaluatedProperties'];

/** Returns the names of all fields that schemas of the document describe. */
export function fieldNamesIn(node: unknown, names = new Set<string>()): Set<string> {
  if (!isNode(node)) return names;
  for (const name of Object.keys(Object(node.properties))) names.add(name);
  for (const child of Object.values(node)) fieldNamesIn(child, names);
  return names;
}

/**
 * Adds each field in `required` that the schema does not describe to `properties`, as any value. Without this
 * correction, the generated type of a reply would lack the field.
 */
export function addRequiredProperties(schema: Keywords, at: string, names: Set<string>, report: ReportChange): void {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isNode(properties) || EXTRA_FIELD_KEYWORDS.some((key) => key in schema)) return;
  const isPart = COMPOSED.test(at) || COMPOSING_KEYWORDS.some((key) => key in schema);
  const isKnown = (name: string) => Object.hasOwn(properties, name) || (isPart && names.has(name));
  for (const name of required.filter((name) => !isKnown(name) && name !== '__proto__')) {
    properties[name] = {};
    report(`${at}/properties/${toPointerToken(name)} is written: it is required`);
  }
}

/**
 * Removes an alternative of `oneOf` that differs from another alternative only in its documentation, because each value
 * would fit both. If alternatives differ only in a default, or only in optional fields that no alternative forbids,
 * none is removed, and `oneOf` becomes `anyOf`.
 */
export function dropAlike(schema: Keywords, at: string, document: Node, report: ReportChange): void {
  const { oneOf, discriminator } = schema;
  if (!Array.isArray(oneOf) || discriminator) return;
  const bare = oneOf.map((one) => withoutWords(targetOf(document, one)));
  const first = bare.map((one) => bare.findIndex((other) => isDeepStrictEqual(one, other)));
  schema.oneOf = oneOf.filter((_, index) => first[index] === index);
  for (const [index, other] of first.entries())
    if (other !== index)
      report(`${at}/oneOf/${index} is taken out: it takes what oneOf/${other} takes, and only one may`);
  const left = bare.filter((_, index) => first[index] === index).map(withoutDefaults);
  const isSome = (isPair: (one: unknown, other: unknown) => boolean) =>
    left.some((one, index) => left.slice(0, index).some((other) => isPair(other, one)));
  const isTwice = isSome(isDeepStrictEqual);
  if (!(isTwice || isSome(isIndistinct)) || 'anyOf' in schema) return;
  schema.anyOf = schema.oneOf;
  delete schema.oneOf;
  const why = isTwice
    ? 'some alternatives differ only in a default'
    : 'a value of one alternative also fits another one';
  report(`${at}/oneOf is written as anyOf: ${why}, and only one may fit`);
}

/**
 * True if every object that fits one schema also fits the other schema, provided that its fields fit the types of both.
 * Schemas without a common field return false, because each may be meant to require its own fields.
 */
function isIndistinct(one: unknown, other: unknown): boolean {
  if (!isOpenObject(one) || !isOpenObject(other)) return false;
  const { properties: own, required: needed = [] } = one;
  const { properties: others, required: otherNeeded = [] } = other;
  const shared = Object.keys(own).filter((name) => Object.hasOwn(others, name));
  return (
    shared.length > 0 &&
    isDeepStrictEqual(new Set(needed), new Set(otherNeeded)) &&
    shared.every((name) => isDeepStrictEqual(own[name], others[name]))
  );
}

type OpenObject = Keywords & { properties: Record<string, unknown> };

/** True for a schema of objects that forbids no field. */
const isOpenObject = (node: unknown): node is OpenObject =>
  isNode(node) &&
  isNode(node.properties) &&
  Object.entries(node).every(
    ([key, value]) => /^(properties|required)$/.test(key) || (key === 'type' && value === 'object'),
  );

/**
 * Removes `additionalProperties: false` from a subschema of `allOf` if another subschema has further fields, because no
 * value could contain these fields. If the subschema is a reference, it is replaced by a changed copy of its target.
 * The target itself stays closed.
 */
export function openParts({ allOf, ...own }: Keywords, at: string, document: Node, report: ReportChange): void {
  if (!Array.isArray(allOf)) return;
  const parts = allOf.map((part) => targetOf(document, part));
  const namesOf = (part: unknown) => Object.keys(Object(Object(part).properties));
  for (const [index, part] of parts.entries()) {
    if (!isNode(part) || part.additionalProperties !== false || 'patternProperties' in part || 'allOf' in part)
      continue;
    const known = new Set(namesOf(part));
    if ([own, ...parts].flatMap(namesOf).every((name) => known.has(name))) continue;
    const { additionalProperties: _, ...open } = part;
    allOf[index] = open as Keywords;
    report(`${at}/allOf/${index} allows the fields of the other parts, which no value could have`);
  }
}

/** Returns the target of a schema that consists only of a reference. Returns any other schema unchanged. */
function targetOf(document: Node, schema: unknown): unknown {
  const { $ref, ...beside } = Object(withoutWords(schema));
  return Object.keys(beside).length === 0 ? (lookUp(document, $ref) ?? schema) : schema;
}

/** Returns the schema without its documentation. */
function withoutWords(node: unknown, hasNames = false): unknown {
  if (!isNode(node)) return node;
  if (Array.isArray(node)) return node.map((item) => withoutWords(item));
  const entries = Object.entries(node).filter(([key]) => hasNames || MEANT.test(key) || !ANNOTATION.test(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [key, isValue(key) ? value : withoutWords(value, !hasNames && isNames(key))]),
  );
}

/** Returns the schema with each default replaced by `true`, unless the default is an object. */
function withoutDefaults(node: unknown): unknown {
  if (!isNode(node)) return node;
  if (Array.isArray(node)) return node.map(withoutDefaults);
  const entries = Object.entries(node);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key === 'default' && !isNode(value) ? true : withoutDefaults(value)]),
  );
}

/** Removes `key` from the node at the JSON Pointer `at`, and reports it with the reason `why`. */
export type Drop = (node: Node, key: string, at: string, why: string) => void;

/** Removes faulty components that no operation uses. */
export function dropUnused(document: Node, drop: Drop): void {
  const used = new Set<unknown>();
  reach(document, document.paths, used);
  reach(document, document.webhooks, used);
  const isSound = (component: unknown, kind: string) =>
    (isNode(component) || typeof component === 'boolean') &&
    (kind !== 'schemas' || reportKeywordTypes(component, '', () => {})) &&
    !danglesIn(component, document) &&
    !isItself(document, component);
  // Repeats until nothing is removed, because removing a component may leave another one with a dangling reference.
  for (let found = true; found; ) {
    found = false;
    for (const [kind, named] of Object.entries(Object(document.components) as Node)) {
      if (kind.startsWith('x-') || !isNode(named)) continue;
      for (const [name, component] of Object.entries(named)) {
        if (used.has(component) || isSound(component, kind)) continue;
        drop(named, name, `/components/${kind}`, 'no operation uses it, and nothing can be made of it');
        found = true;
      }
    }
  }
}

function reach(document: Node, node: unknown, used: Set<unknown>): void {
  if (!isNode(node) || used.has(node)) return;
  used.add(node);
  for (const next of [lookUp(document, node.$ref), ...Object.values(node)]) reach(document, next, used);
}

/** True if the node contains a dangling reference. */
export function danglesIn(node: unknown, document: Node): boolean {
  if (!isNode(node)) return false;
  if (typeof node.$ref === 'string' && lookUp(document, node.$ref) === undefined) return true;
  return Object.values(node).some((child) => danglesIn(child, document));
}

/** True if the schema leads back to itself by `$ref` and `allOf`. */
function isItself(document: Node, node: unknown, open = new Set<unknown>(), done = new Set<unknown>()): boolean {
  if (!isNode(node) || done.has(node)) return false;
  if (open.has(node)) return true;
  open.add(node);
  const parts = [lookUp(document, node.$ref), node.allOf].flat();
  const found = parts.some((part) => isItself(document, part, open, done));
  open.delete(node);
  done.add(node);
  return found;
}
