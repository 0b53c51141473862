/** Writes values of any schema: every digit of a bigint, and no field that the contract does not name. */
import { stringify } from 'lossless-json';
import type { Int64Map } from './int64-map.ts';

export function buildWriteDeclared(int64s: Int64Map): (value: unknown) => string {
  return (value) => stringify(declaredIn(value, [int64s])) as string;
}

/** A value is described by a map, and by the recursions in it. An object whose schema names no field is free to have any. */
function declaredIn(value: unknown, described: Int64Map[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const maps = [...new Set(described.flatMap((int64s) => [int64s, ...int64s.recursions]))];
  const mapsOf = (name: string) => maps.flatMap(({ fields, rest }) => fields.get(name) ?? rest ?? []);
  if (Array.isArray(value)) return value.map((item, index) => declaredIn(item, mapsOf(String(index))));
  const isFree = maps.every(({ fields }) => fields.size === 0);
  const entries = Object.entries(value).filter(([name]) => isFree || mapsOf(name).length > 0);
  return Object.fromEntries(entries.map(([name, inside]) => [name, declaredIn(inside, mapsOf(name))]));
}
