/**
 * Gives the numbers of a checked body the types of its schema: 64-bit integers become bigint and other numbers become
 * doubles. Numbers that the schema does not describe are unchanged.
 */
import { toDouble, toInt64 } from '../../json/exact-number.ts';
import type { Int64Map } from './int64-map.ts';

/** Converts the numbers in a value. Objects and arrays are changed in place; other values are returned. */
type ToBigints = (value: unknown) => unknown;

/** The converter for each map. A converter is added before it is complete, because a map may contain itself. */
const known = new WeakMap<Int64Map, ToBigints>();

/** Builds the converter for the values that a map describes. Returns undefined if the map contains no numbers. */
export function buildToBigints(int64s: Int64Map | undefined): ToBigints | undefined {
  if (!int64s || !hasNumbers(int64s)) return undefined;
  const { isInt64, isOtherNumber, fields, rest, recursions } = int64s;
  const begun = known.get(int64s);
  if (begun) return begun;
  known.set(int64s, convert);
  const ofFields = [...fields].flatMap(([name, inside]): [string, ToBigints][] => {
    const ofField = buildToBigints(inside);
    return ofField ? [[name, ofField]] : [];
  });
  const ofRest = buildToBigints(rest);
  // A value may also be described by a recursive schema, an outer schema that contains the same integers again.
  const ofRecursions = [...recursions].map((recursion) => ({
    ofRecursion: buildToBigints(recursion) as ToBigints,
    done: new WeakSet<object>(),
  }));
  return convert;

  function convert(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) {
      if (isInt64) return toInt64(value) ?? value;
      // The schema may also contain an alternative that does not restrict the type, so the value can be any bigint. A
      // bigint that no double can hold is left unchanged.
      return isOtherNumber && typeof value === 'bigint' ? (toDouble(value) ?? value) : value;
    }
    const values = value as Record<string, unknown>;
    for (const [name, ofField] of ofFields) {
      if (Object.hasOwn(values, name)) values[name] = ofField(values[name]);
    }
    for (const name of ofRest ? Object.keys(values) : []) {
      if (!fields.has(name)) values[name] = (ofRest as ToBigints)(values[name]);
    }
    // A recursive schema converts each object only once. Otherwise, if several recursive schemas describe an object,
    // the number of conversions would double at each level of nesting.
    for (const { ofRecursion, done } of ofRecursions.filter((one) => !one.done.has(values))) {
      done.add(values);
      ofRecursion(values);
    }
    return values;
  }
}

const numberless = new WeakSet<Int64Map>();

/** True if the map, or any map inside it, contains numbers. Otherwise, all visited maps are added to `numberless`. */
function hasNumbers(int64s: Int64Map): boolean {
  const seen = new Set([int64s]);
  for (const { isInt64, isOtherNumber, fields, rest, recursions } of seen) {
    if (isInt64 || isOtherNumber) return true;
    for (const inside of [...fields.values(), ...(rest ? [rest] : []), ...recursions]) {
      if (!numberless.has(inside)) seen.add(inside);
    }
  }
  for (const one of seen) numberless.add(one);
  return false;
}
