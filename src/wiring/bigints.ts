/** The 64-bit integers of a body as bigint, by the places where its schema has them. */
import type { Place } from '../contract/int64-places.ts';
import { toInt64 } from '../json/int64.ts';

/** Changes the value in place. */
export type ToBigints = (value: unknown) => unknown;

/** Undefined where the value has no 64-bit integers. */
export function buildToBigints(place: Place | undefined): ToBigints | undefined {
  if (!place) return undefined;
  const { isInt64, fields, rest } = place;
  const ofFields = [...fields].flatMap(([name, inside]): [string, ToBigints][] => {
    const convert = buildToBigints(inside);
    return convert ? [[name, convert]] : [];
  });
  const ofRest = buildToBigints(rest);
  if (!isInt64 && ofFields.length === 0 && !ofRest) return undefined;

  return (value) => {
    if (typeof value !== 'object' || value === null) return isInt64 ? (toInt64(value) ?? value) : value;
    const values = value as Record<string, unknown>;
    for (const [name, convert] of ofFields) {
      if (Object.hasOwn(values, name)) values[name] = convert(values[name]);
    }
    for (const name of ofRest ? Object.keys(values) : []) {
      if (!fields.has(name)) values[name] = (ofRest as ToBigints)(values[name]);
    }
    return values;
  };
}
