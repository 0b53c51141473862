/**
 * Finds the schemas inside a schema (JSON Schema 2020-12, Core, section 10). A subschema applies to the same value as
 * the outer schema, to one field or item of the value, or to all fields or items.
 */
import { toPointerOf } from '../../json/pointer.ts';
import { isNode, type Keywords, keywordsOf, type Schema } from './json.ts';

const OF_VALUE = ['not', 'if', 'then', 'else'];
const OF_ALL = ['items', 'contains', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'];
/** Keywords with a single schema as the value. The value of each keyword in SEVERAL is an array or a map of schemas. */
export const ONE = [...OF_VALUE, ...OF_ALL];
const SEVERAL = ['allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'properties', 'patternProperties', 'prefixItems'];

export const SUBSCHEMA_KEYWORDS = [...ONE, ...SEVERAL];

/**
 * Keywords with schemas that apply to the same value as the outer schema. The schemas of the keywords in NAMED apply to
 * a single field or item. The schemas of all other keywords apply to all fields or items.
 */
const SAME_VALUE_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'dependentSchemas', ...OF_VALUE];
const NAMED = ['properties', 'prefixItems'];

/**
 * Returns the scope of a schema under this keyword: the same value as the outer schema, a single field or item, or all
 * fields or items.
 */
export function scopeOf(keyword: string): 'value' | 'field' | 'fields' {
  if (SAME_VALUE_KEYWORDS.includes(keyword)) return 'value';
  return NAMED.includes(keyword) ? 'field' : 'fields';
}

interface Subschema {
  subschema: Schema;
  keyword: string;
  /** The name of the field, or the index in the array. Empty if the keyword contains a single schema. */
  name: string;
}

/**
 * Returns the pointer from a schema to a schema inside it, in the short form that ReportProblem accepts: without
 * `properties`. The pointer is empty for a schema of the same value, because the document may refer to that schema with
 * a `$ref`.
 */
export function toInnerPointer({ keyword, name }: Omit<Subschema, 'subschema'>): string {
  if (scopeOf(keyword) === 'value') return '';
  return keyword === 'properties' ? toPointerOf(name) : toPointerOf(keyword, ...(name ? [name] : []));
}

/** Returns the schemas directly inside this one. */
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

/**
 * True if a node is a schema. Values that are not schemas are left unchanged, so that compiling the outer schema
 * reports them.
 */
const isSchema = (node: unknown): node is Schema => typeof node === 'boolean' || isNode(node);

type Make = (subschema: Schema, keyword: string, name: string) => Schema;

/** Copies the schema, and replaces each schema directly inside it by the result of `make`. */
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

/**
 * Recursive references and their targets. Such references are kept, because replacing a reference to an outer schema
 * would never end.
 */
const targets = new WeakMap<object, () => Keywords>();

/**
 * Makes a schema that only refers to another schema. `target` returns that other schema; it is a function because the
 * target may not exist yet.
 */
export function toRecursion(name: string, target: () => Keywords): Keywords {
  const schema = { $ref: `contract:${name.replace(/^(contract:|#)/, '')}` };
  targets.set(schema, target);
  return schema;
}

export const isRecursion = (schema: Schema): boolean => targets.has(keywordsOf(schema));

/** Returns the target of a recursive reference; undefined for any other schema. */
export const targetOf = (schema: Schema): Keywords | undefined => targets.get(keywordsOf(schema))?.();
