/** The numbers of a body as its schema has them: 64-bit integers as bigint, all others as doubles. */

import { toInt64 } from '../../json/int64.ts';
import type { Int64Map } from './int64-map.ts';

/** Changes the value in place. */
export type ToBigints = (value: unknown) => unknown;

/** Also those that are being built: a map may be within itself. */
const known = new WeakMap<Int64Map, ToBigints>();

/** Undefined where the value has no numbers. */
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
  // The value that a recursion describes is around this one, and has its integers too.
  const ofRecursions = [...recursions].map((recursion) => ({
    ofRecursion: buildToBigints(recursion) as ToBigints,
    done: new WeakSet<object>(),
  }));
  return convert;

  function toOne(value: unknown): unknown {
    if (isInt64) return toInt64(value) ?? value;
    return isOtherNumber && typeof value === 'bigint' ? Number(value) : value;
  }

  function convert(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return toOne(value);
    const values = value as Record<string, unknown>;
    for (const [name, ofField] of ofFields) {
      if (Object.hasOwn(values, name)) values[name] = ofField(values[name]);
    }
    for (const name of ofRest ? Object.keys(values) : []) {
      if (!fields.has(name)) values[name] = (ofRest as ToBigints)(values[name]);
    }
    // What several recursions describe would come by twice at each depth.
    for (const { ofRecursion, done } of ofRecursions.filter((one) => !one.done.has(values))) {
      done.add(values);
      ofRecursion(values);
    }
    return values;
  }
}

const numberless = new WeakSet<Int64Map>();

/** Where none has been found, there are none in all that were seen. */
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
