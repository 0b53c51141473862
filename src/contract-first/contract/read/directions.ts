/**
 * Derives the schema for requests, without `readOnly` fields, and the schema for replies, without `writeOnly` fields.
 */
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { mapSubschemas, scopeOf, subschemasOf, targetOf, toRecursion } from '../../engine/schema/subschemas.ts';

type Word = 'readOnly' | 'writeOnly';

/** The adjectives in messages about fields that a request (`readOnly`) or a reply (`writeOnly`) must not contain. */
export const HIDDEN = { readOnly: 'read-only', writeOnly: 'write-only' };

/**
 * Caches, because several schemas may contain the same subschema. `hidden` maps a schema to its derived schema.
 * `silent` contains the schemas without the keyword in any field.
 */
const known = {
  readOnly: { hidden: new WeakMap<object, Keywords>(), silent: new WeakSet<object>() },
  writeOnly: { hidden: new WeakMap<object, Keywords>(), silent: new WeakSet<object>() },
};

/**
 * Derives a schema without the fields with the keyword `readOnly` or `writeOnly`. The schemas of these fields are
 * replaced by one that rejects all values (our keyword `hidden`), and their names are removed from `required`. Returns
 * the same object if the keyword does not occur.
 */
export function withoutFields(word: Word, schema: Keywords): Keywords;
export function withoutFields(word: Word, schema: Schema): Schema;
export function withoutFields(word: Word, schema: Schema): Schema {
  if (typeof schema === 'boolean' || !mentions(word, schema)) return schema;
  const { hidden } = known[word];
  const made = hidden.get(schema) ?? hide(word, schema, namesOf(word, schema));
  hidden.set(schema, made);
  return made;
}

/**
 * Hides the fields with the keyword. `names` also lists the hidden fields of other subschemas for the same object,
 * because one subschema of an `allOf` may describe a field that a second subschema lists in `required`.
 */
function hide(word: Word, schema: Keywords, names: string[]): Keywords {
  const target = targetOf(schema);
  if (target) return toRecursion(schema.$ref as string, () => withoutFields(word, target));
  const hidden = mapSubschemas(schema, (subschema, keyword) => {
    if (typeof subschema === 'boolean') return subschema;
    if (keyword === 'properties' && subschema[word]) return { hidden: HIDDEN[word] };
    return scopeOf(keyword) === 'value' ? hide(word, subschema, names) : withoutFields(word, subschema);
  });
  if (schema.required) hidden.required = schema.required.filter((name) => !names.includes(name));
  return hidden;
}

function namesOf(word: Word, schema: Schema): string[] {
  return subschemasOf(schema).flatMap(({ subschema, keyword, name }) => {
    if (keyword === 'properties' && keywordsOf(subschema)[word]) return [name];
    return scopeOf(keyword) === 'value' ? namesOf(word, subschema) : [];
  });
}

/** True if the keyword is in the schema or in a schema inside it. If not, adds all visited schemas to `silent`. */
function mentions(word: Word, schema: Keywords): boolean {
  const { silent } = known[word];
  const seen = new Set([schema]);
  for (const one of seen) {
    if (one[word]) return true;
    const inside = [targetOf(one) ?? true, ...subschemasOf(one).map(({ subschema }) => subschema)];
    for (const next of inside) if (typeof next === 'object' && !silent.has(next)) seen.add(next);
  }
  for (const one of seen) silent.add(one);
  return false;
}
