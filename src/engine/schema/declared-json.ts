/** Writes values of any schema: every digit of a bigint, and no field that the contract does not name. */
import { stringify } from 'lossless-json';
import type { Int64Place } from './int64-places.ts';

export function buildWriteDeclared(place: Int64Place): (value: unknown) => string {
  return (value) => stringify(declaredIn(value, [place])) as string;
}

/** A value is described by a place, and by the recursions there. An object whose schema names no field is free to have any. */
function declaredIn(value: unknown, described: Int64Place[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const places = [...new Set(described.flatMap((place) => [place, ...place.recursions]))];
  const placesOf = (name: string) => places.flatMap(({ fields, rest }) => fields.get(name) ?? rest ?? []);
  if (Array.isArray(value)) return value.map((item, index) => declaredIn(item, placesOf(String(index))));
  const isFree = places.every(({ fields }) => fields.size === 0);
  const entries = Object.entries(value).filter(([name]) => isFree || placesOf(name).length > 0);
  return Object.fromEntries(entries.map(([name, inside]) => [name, declaredIn(inside, placesOf(name))]));
}
