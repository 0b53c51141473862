/** Writes JSON for any schema, with every digit of a bigint, and without fields that the contract does not name. */
import { stringify } from 'lossless-json';
import type { Int64Map } from './int64-map.ts';

export function buildWriteDeclared(int64s: Int64Map): (value: unknown) => string {
  return (value) => stringify(declaredIn(value, [int64s])) as string;
}

/** `described` has the maps that describe the value, to which their recursions are added. Without named fields, an object may have any. */
function declaredIn(value: unknown, described: Int64Map[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const maps = [...new Set(described.flatMap((int64s) => [int64s, ...int64s.recursions]))];
  const mapsOf = (name: string) => maps.flatMap(({ fields, rest }) => fields.get(name) ?? rest ?? []);
  if (Array.isArray(value)) return value.map((item, index) => declaredIn(item, mapsOf(String(index))));
  const isFree = maps.every(({ fields }) => fields.size === 0);
  const entries = Object.entries(value).filter(([name]) => isFree || mapsOf(name).length > 0);
  return Object.fromEntries(entries.map(([name, inside]) => [name, declaredIn(inside, mapsOf(name))]));
}
