/** The schemas inside a schema (JSON Schema 2020-12, Core, section 10), and whether each describes the value, a field, or all fields. */
import { toPointerOf } from '../../json/pointer.ts';
import { isNode, type Keywords, keywordsOf, type Schema } from './json.ts';

const OF_VALUE = ['not', 'if', 'then', 'else'];
const OF_ALL = ['items', 'contains', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'];
/** Keywords with one schema, and keywords with several, in an array or by name. */
export const ONE = [...OF_VALUE, ...OF_ALL];
const SEVERAL = ['allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'properties', 'patternProperties', 'prefixItems'];

export const SUBSCHEMA_KEYWORDS = [...ONE, ...SEVERAL];

/** Keywords with schemas for the same value, and keywords for single fields or items. Other keywords describe all fields. */
const SAME_VALUE_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'dependentSchemas', ...OF_VALUE];
const NAMED = ['properties', 'prefixItems'];

/** Whether a schema under this keyword describes the same value, one field, or all fields. */
export function scopeOf(keyword: string): 'value' | 'field' | 'fields' {
  if (SAME_VALUE_KEYWORDS.includes(keyword)) return 'value';
  return NAMED.includes(keyword) ? 'field' : 'fields';
}

interface Subschema {
  subschema: Schema;
  keyword: string;
  /** The name of a field, or an index; '' if the keyword takes one schema. */
  name: string;
}

/**
 * The pointer to a schema inside another, as `ReportProblem` takes it: the name of a field. The pointer is empty for a schema of the same
 * value, which may follow a reference in the document.
 */
export function toInnerPointer({ keyword, name }: Omit<Subschema, 'subschema'>): string {
  if (scopeOf(keyword) === 'value') return '';
  return keyword === 'properties' ? toPointerOf(name) : toPointerOf(keyword, ...(name ? [name] : []));
}

/** The schemas directly inside this one. */
export function subschemasOf(schema: Schema): Subschema[] {
  if (typeof schema === 'boolean') return [];
  const one = ONE.filter((keyword) => keyword in schema);
  const several = SEVERAL.filter((keyword) => keyword in schema);
  return [
    ...one.map((keyword) => ({ subschema: schema[keyword], keyword, name: '' })),
    ...several.flatMap((keyword) =>
      Object.entries<unknown>(Object(schema[keyword])).map(([name, subschema]) => ({ subschema, keyword, name })),
    ),
  ].filter((one): one is Subschema => isSchema(one.subschema));
}

/** Other values stay unchanged, and are errors when the schema is compiled. */
const isSchema = (node: unknown): node is Schema => typeof node === 'boolean' || isNode(node);

type Make = (subschema: Schema, keyword: string, name: string) => Schema;

/** Replaces each schema directly inside this one by the result of `make`. */
export function mapSubschemas(schema: Keywords, make: Make): Keywords {
  const map = (one: unknown, ...where: [string, string]) => (isSchema(one) ? make(one, ...where) : one);
  const mapped = { ...schema };
  for (const keyword of ONE.filter((name) => name in schema)) mapped[keyword] = map(schema[keyword], keyword, '');
  for (const keyword of SEVERAL.filter((name) => name in schema)) {
    const several = Object.entries<unknown>(Object(schema[keyword]));
    const entries = several.map(([name, subschema]) => [name, map(subschema, keyword, name)] as const);
    mapped[keyword] = Array.isArray(schema[keyword]) ? entries.map(([, made]) => made) : Object.fromEntries(entries);
  }
  return mapped;
}

/** Recursive schemas: where a schema refers to itself, the reference stays, since replacing it would never end. */
const targets = new WeakMap<object, () => Keywords>();

/** A schema that only refers to another, which may not be resolved yet. */
export function toRecursion(name: string, target: () => Keywords): Keywords {
  const schema = { $ref: `contract:${name.replace(/^(contract:|#)/, '')}` };
  targets.set(schema, target);
  return schema;
}

export const isRecursion = (schema: Schema): boolean => targets.has(keywordsOf(schema));

/** The target of such a reference; undefined for any other schema. */
export const targetOf = (schema: Schema): Keywords | undefined => targets.get(keywordsOf(schema))?.();
