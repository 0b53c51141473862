/** `readOnly` and `writeOnly` fields: a schema as it holds for requests, or for replies. */
import type { Json } from './json.ts';
import { targetOf, toRecursion } from './recursion.ts';
import { mapSubschemas, scopeOf, subschemasOf } from './subschemas.ts';

type Word = 'readOnly' | 'writeOnly';

/** What the fields of a request, or of a reply, must not be. */
export const HIDDEN = { readOnly: 'read-only', writeOnly: 'write-only' };

/** The schema with `hidden` in place of each field with this word, which is not required either. The same object where there is none. */
export function withoutFields(word: Word, schema: Json): Json {
  return mentions(word, schema, new Set()) ? hide(word, schema, namesOf(word, schema)) : schema;
}

const targets = { readOnly: new WeakMap<object, Json>(), writeOnly: new WeakMap<object, Json>() };

/** Once for each target, which may refer to itself. */
function hideInTarget(word: Word, target: Json): Json {
  const hidden = targets[word].get(target) ?? hide(word, target, namesOf(word, target));
  targets[word].set(target, hidden);
  return hidden;
}

/** `names` are those of all parts of a schema that describe the same value: `required` may stand in another one. */
function hide(word: Word, schema: Json, names: string[]): Json {
  const target = targetOf(schema);
  if (target) return toRecursion(schema.$ref, () => hideInTarget(word, target));
  const hidden = mapSubschemas(schema, (subschema, keyword) => {
    if (keyword === 'properties' && subschema[word]) return { hidden: HIDDEN[word] };
    return hide(word, subschema, scopeOf(keyword) === 'value' ? names : namesOf(word, subschema));
  });
  if (schema.required) hidden.required = schema.required.filter((name: string) => !names.includes(name));
  return hidden;
}

function namesOf(word: Word, schema: Json): string[] {
  return subschemasOf(schema).flatMap(({ subschema, keyword, name }) => {
    if (keyword === 'properties' && subschema[word]) return [name];
    return scopeOf(keyword) === 'value' ? namesOf(word, subschema) : [];
  });
}

function mentions(word: Word, schema: Json, seen: Set<Json>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const target = targetOf(schema);
  if (schema[word] || (target && mentions(word, target, seen))) return true;
  return subschemasOf(schema).some(({ subschema }) => mentions(word, subschema, seen));
}
