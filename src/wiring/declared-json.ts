/** Writes values of any schema: every digit of a bigint, and no field that the contract does not name. */
import { stringify } from 'lossless-json';
import type { Place } from '../contract/int64-places.ts';

export function buildWriteDeclared(place: Place): (value: unknown) => string {
  return (value) => stringify(declaredIn(value, place)) as string;
}

/** An object whose schema names no field is free to have any. */
function declaredIn(value: unknown, place: Place | undefined): unknown {
  if (typeof value !== 'object' || value === null || !place) return value;
  const { fields, rest } = place;
  const placeOf = (name: string) => fields.get(name) ?? rest;
  if (Array.isArray(value)) return value.map((item, index) => declaredIn(item, placeOf(String(index))));
  const entries = Object.entries(value).filter(([name]) => fields.size === 0 || placeOf(name));
  return Object.fromEntries(entries.map(([name, inside]) => [name, declaredIn(inside, placeOf(name))]));
}
