/** Several schemas that all hold, as one: the parts of `allOf`, or a schema and what `if` adds to it. */
import { isDeepStrictEqual } from 'node:util';
import { isAnnotation, noWayToBreak } from './keywords.ts';
import type { Json } from './operations.ts';

const LEAST = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const MOST = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
type Join = (one: Json, other: Json) => Json;
const same = (names: string[], join: Join) => Object.fromEntries(names.map((name) => [name, join]));

/** What two values of a keyword say together. */
const JOINS: Record<string, Join> = {
  ...same(LEAST, Math.max),
  ...same(MOST, Math.min),
  required: (one, other) => [...new Set([...one, ...other])],
  enum: (one, other) => one.filter((value: Json) => other.includes(value)),
  properties: (one, other) => {
    const fields = Object.entries<Json>(other).map(([name, field]) => [name, joined(one[name] ?? {}, field)]);
    return { ...one, ...Object.fromEntries(fields) };
  },
  items: (one, other) => joined(one, other),
  'x-read-only': (one, other) => ({ ...one, ...other }),
};

/** @throws Error that names a keyword that two of them have, and for which there is no way yet */
export function joined(...schemas: Json[]): Json {
  const whole: Json = {};
  const flat = schemas.flatMap(({ allOf = [], ...own }) => [...allOf.map((part: Json) => joined(part)), own]);
  for (const [keyword, value] of flat.flatMap((schema) => Object.entries<Json>(schema))) {
    const join = JOINS[keyword];
    if (!(keyword in whole) || isDeepStrictEqual(whole[keyword], value)) whole[keyword] = value;
    else if (join) whole[keyword] = join(whole[keyword], value);
    else if (!isAnnotation(keyword)) throw noWayToBreak(`two different ${keyword}`, 'joined.ts');
  }
  return whole;
}

/** A schema with `if`, as it is where the condition holds, and where it does not. */
export function branchesOf({ if: condition, then: more = {}, else: others = {}, ...base }: Json) {
  return { condition, held: joined(base, condition, more), unheld: joined(base, others) };
}
