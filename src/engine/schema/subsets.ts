/** Whether all values of one schema are values of another: true only where that is plain to see. */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from './json.ts';
import { ANNOTATION } from './references.ts';
import { mapSubschemas } from './subschemas.ts';

/** Whether what fits `inner` fits `outer`, and has no field that `outer` does not name. */
export function isWithin(inner: Json, outer: Json): boolean {
  const [given, wanted] = [toBare(inner), toBare(outer)];
  return isNamed(given, wanted) && fits(given, wanted);
}

/** Without what says nothing about values. */
function toBare(schema: Json): Json {
  if (typeof schema === 'boolean') return schema;
  const entries = Object.entries(mapSubschemas(schema, toBare)).filter(([keyword]) => !ANNOTATION.test(keyword));
  return Object.fromEntries(entries);
}

/** The parts of `allOf` in one. What two of them say of the same keyword, the first says: enough for what is known of a value. */
export function toFlat(schema: Json): Json {
  if (!schema.allOf) return schema;
  const { allOf, ...own } = schema;
  const parts: Json[] = [own, ...allOf.map(toFlat)];
  const properties = Object.assign({}, ...parts.toReversed().map((part) => part.properties));
  const required = parts.flatMap((part) => part.required ?? []);
  return { ...Object.assign({}, ...parts.toReversed()), properties, required };
}

function isNamed(inner: Json, outer: Json): boolean {
  const [given, known] = [toFlat(inner), toFlat(outer)];
  if (given.items && known.items) return isNamed(given.items, known.items);
  if (!given.properties || !known.properties) return true;
  return Object.entries(given.properties).every(
    ([name, field]) => name in known.properties && isNamed(field, known.properties[name]),
  );
}

function fits(inner: Json, outer: Json): boolean {
  if (typeof inner === 'boolean' || typeof outer === 'boolean') return outer === true || inner === false;
  if (isDeepStrictEqual(inner, outer)) return true;
  const given = toFlat(inner);
  return Object.entries<Json>(outer).every(([keyword, value]) => holds(keyword, value, given));
}

/** Whether a keyword holds for all that fits a schema. */
function holds(keyword: string, value: Json, given: Json): boolean {
  const own = given[keyword];
  switch (keyword) {
    case 'allOf':
      return value.every((part: Json) => fits(given, part));
    case 'type':
      return own !== undefined && [own].flat().every((type) => [value].flat().some((wide) => isType(type, wide)));
    case 'required':
      return value.every((name: string) => given.required?.includes(name));
    case 'enum':
      return own?.every((one: Json) => value.some((other: Json) => isDeepStrictEqual(one, other))) ?? false;
    case 'properties':
      return Object.entries(value).every(([name, field]) => {
        const inside = given.properties?.[name];
        return inside === undefined ? given.additionalProperties === false : fits(inside, field);
      });
    case 'additionalProperties':
      // Which fields there are was compared before, by `isNamed`.
      return value === true || given.additionalProperties === false;
    case 'items':
      return own !== undefined && fits(own, value);
    case 'minimum':
    case 'minLength':
    case 'minItems':
      return value === 0 ? keyword !== 'minimum' || own >= 0 : own >= value;
    case 'maximum':
    case 'maxLength':
    case 'maxItems':
      return own <= value;
    default:
      return isDeepStrictEqual(own, value);
  }
}

const isType = (type: string, wide: string) => type === wide || (type === 'integer' && wide === 'number');
