/** Gives the numbers of a body the types of its schema: 64-bit integers become bigint, others become doubles, and free JSON is unchanged. */
import { toDouble, toInt64 } from '../../json/exact-number.ts';
import type { Int64Map } from './int64-map.ts';

/** Changes the value in place. */
type ToBigints = (value: unknown) => unknown;

/** Converters by map, also while they are being built: a map may contain itself. */
const known = new WeakMap<Int64Map, ToBigints>();

/** Undefined if the value contains no numbers. */
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
      // A value that fits another alternative, without a type, may have any digits.
      return isOtherNumber && typeof value === 'bigint' ? (toDouble(value) ?? value) : value;
    }
    const values = value as Record<string, unknown>;
    for (const [name, ofField] of ofFields) {
      if (Object.hasOwn(values, name)) values[name] = ofField(values[name]);
    }
    for (const name of ofRest ? Object.keys(values) : []) {
      if (!fields.has(name)) values[name] = (ofRest as ToBigints)(values[name]);
    }
    // Without `done`, a value with several recursions would be converted twice at each depth.
    for (const { ofRecursion, done } of ofRecursions.filter((one) => !one.done.has(values))) {
      done.add(values);
      ofRecursion(values);
    }
    return values;
  }
}

const numberless = new WeakSet<Int64Map>();

/** Whether the map, or any map inside it, contains numbers. If not, none of the maps seen contains any. */
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
