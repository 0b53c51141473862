/** The 64-bit integers of a body as bigint, by the places where its schema has them. */

import { toInt64 } from '../../json/int64.ts';
import type { Int64Place } from './int64-places.ts';

/** Changes the value in place. */
export type ToBigints = (value: unknown) => unknown;

/** Undefined where the value has no 64-bit integers. `known` has those that are being built: a place may be within itself. */
export function buildToBigints(
  place: Int64Place | undefined,
  known = new Map<Int64Place, ToBigints>(),
): ToBigints | undefined {
  if (!place || !hasInt64s(place, new Set())) return undefined;
  const { isInt64, fields, rest, recursions } = place;
  const begun = known.get(place);
  if (begun) return begun;
  known.set(place, convert);
  const ofFields = [...fields].flatMap(([name, inside]): [string, ToBigints][] => {
    const ofField = buildToBigints(inside, known);
    return ofField ? [[name, ofField]] : [];
  });
  const ofRest = buildToBigints(rest, known);
  // What a place refers back to is around it, and has its integers too.
  const ofRecursions = [...recursions].map((recursion) => ({
    ofRecursion: buildToBigints(recursion, known) as ToBigints,
    done: new WeakSet<object>(),
  }));
  return convert;

  function convert(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return isInt64 ? (toInt64(value) ?? value) : value;
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

function hasInt64s({ isInt64, fields, rest, recursions }: Int64Place, seen: Set<Int64Place>): boolean {
  const inside = [...fields.values(), ...(rest ? [rest] : []), ...recursions].filter((place) => !seen.has(place));
  for (const place of inside) seen.add(place);
  return isInt64 || inside.some((place) => hasInt64s(place, seen));
}
