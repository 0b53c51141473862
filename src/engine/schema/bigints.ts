/** The numbers of a body by the places where its schema has them: 64-bit integers as bigint, all others as doubles. */

import { toInt64 } from '../../json/int64.ts';
import type { Int64Place } from './int64-places.ts';

/** Changes the value in place. */
export type ToBigints = (value: unknown) => unknown;

/** Also those that are being built: a place may be within itself. */
const known = new WeakMap<Int64Place, ToBigints>();

/** Undefined where the value has no numbers. */
export function buildToBigints(place: Int64Place | undefined): ToBigints | undefined {
  if (!place || !hasNumbers(place)) return undefined;
  const { isInt64, isOtherNumber, fields, rest, recursions } = place;
  const begun = known.get(place);
  if (begun) return begun;
  known.set(place, convert);
  const ofFields = [...fields].flatMap(([name, inside]): [string, ToBigints][] => {
    const ofField = buildToBigints(inside);
    return ofField ? [[name, ofField]] : [];
  });
  const ofRest = buildToBigints(rest);
  // What a place refers back to is around it, and has its integers too.
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

const numberless = new WeakSet<Int64Place>();

/** Where none has been found, there are none in all that were seen. */
function hasNumbers(place: Int64Place): boolean {
  const seen = new Set([place]);
  for (const { isInt64, isOtherNumber, fields, rest, recursions } of seen) {
    if (isInt64 || isOtherNumber) return true;
    for (const inside of [...fields.values(), ...(rest ? [rest] : []), ...recursions]) {
      if (!numberless.has(inside)) seen.add(inside);
    }
  }
  for (const one of seen) numberless.add(one);
  return false;
}
