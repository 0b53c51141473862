/** Refuses 64-bit integers that would have two types, or could not be compared. */
import { type Int64Map, int64sOf } from '../../engine/schema/int64-map.ts';
import type { Refuse, Schema } from '../../engine/schema/json.ts';

/** Only the contract can say it: a schema has one type, also where it is used elsewhere. */
const MIXED =
  'is int64 in one alternative and not in another: give it type: integer, format: int64 in each, or in none where it may be a fraction';

/** Refuses values that would have two types, or could not be compared. `name` is the value's name in problems. */
export function findInt64s(schema: Schema, name: string, refuse: Refuse): Int64Map {
  const int64s = int64sOf(schema);
  checkMap(int64s, name, refuse);
  return int64s;
}

const sound = new WeakSet<Int64Map>();

function checkMap(int64s: Int64Map, name: string, refuseAny: Refuse): void {
  if (sound.has(int64s)) return;
  let isSound = true;
  const refuse = (problem: string) => {
    isSound = false;
    refuseAny(problem);
  };
  if (int64s.isInt64) {
    for (const keyword of int64s.comparisons) refuse(`${name}: ${keyword} is not supported for int64`);
    if (int64s.isOtherNumber && !int64s.isAlwaysInt64) refuse(`${name}: ${MIXED}`);
  }
  for (const recursion of int64s.recursions) checkRecursion(int64s, recursion, name, refuse);
  for (const [field, inside] of int64s.fields) checkMap(inside, `${name}.${field}`, refuse);
  if (int64s.rest) checkMap(int64s.rest, `${name}.*`, refuse);
  if (isSound) sound.add(int64s);
}

/** The inside of a recursion is checked where the recursion begins. */
function checkRecursion(int64s: Int64Map, recursion: Int64Map, name: string, refuse: Refuse): void {
  if (recursion.recursions.has(recursion)) refuse(`${name}: its schema is nothing but itself`);
  for (const [field, inside] of int64s.fields) {
    const other = recursion.fields.get(field);
    const both = other ? [inside, other] : [];
    const isMixed = both.some(({ isInt64 }) => isInt64) && both.some(({ isOtherNumber }) => isOtherNumber);
    if (isMixed) refuse(`${name}.${field}: ${MIXED}`);
  }
}
