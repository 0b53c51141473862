/**
 * Gives the numbers of a checked body the types of its schema: 64-bit integers become bigint and other numbers become
 * doubles. Numbers that the schema does not describe are unchanged.
 */
import { toDouble, toInt64 } from '../../json/exact-number.ts';
import type { Int64Map } from './int64-map.ts';

/** Changes the value in place. */
type ToBigints = (value: unknown) => unknown;

/** Converters by map. A converter is added before it is complete, because a map may contain itself. */
const known = new WeakMap<Int64Map, ToBigints>();

/** Builds the converter of the values that a map describes. Returns undefined if these values contain no numbers. */
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
  // A recursive reference leads to an outer schema, so the value inside may contain the same integers again.
  const ofRecursions = [...recursions].map((recursion) => ({
    ofRecursion: buildToBigints(recursion) as ToBigints,
    done: new WeakSet<object>(),
  }));
  return convert;

  function convert(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) {
      if (isInt64) return toInt64(value) ?? value;
      // The value may fit an alternative without a type, so it can be any bigint. If no double can hold it, it stays a
      // bigint.
      return isOtherNumber && typeof value === 'bigint' ? (toDouble(value) ?? value) : value;
    }
    const values = value as Record<string, unknown>;
    for (const [name, ofField] of ofFields) {
      if (Object.hasOwn(values, name)) values[name] = ofField(values[name]);
    }
    for (const name of ofRest ? Object.keys(values) : []) {
      if (!fields.has(name)) values[name] = (ofRest as ToBigints)(values[name]);
    }
    // Each recursive schema converts an object only once. Otherwise an object that several recursive schemas describe
    // would be converted twice at each level of nesting.
    for (const { ofRecursion, done } of ofRecursions.filter((one) => !one.done.has(values))) {
      done.add(values);
      ofRecursion(values);
    }
    return values;
  }
}

const numberless = new WeakSet<Int64Map>();

/**
 * True if the map, or any map inside it, contains numbers. If the result is false, all visited maps are remembered as
 * maps without numbers.
 */
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
