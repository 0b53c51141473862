/** Pets as one array for each of some fields, which `unnest` makes rows of. */
import { COLUMNS, type Field } from '../columns.ts';
import type { Pet } from '../store.ts';

/** The columns, and `$1::text[],…` for the arrays. */
export function toArraysSql(fields: readonly Field[]): { columns: string; arrays: string } {
  const types = fields.map((field) => (COLUMNS[field].type === 'text' ? 'text' : 'bigint'));
  return {
    columns: fields.map((field) => COLUMNS[field].column).join(),
    arrays: types.map((type, index) => `$${index + 1}::${type}[]`).join(),
  };
}

/** The arrays, NULL where a pet has no such field. */
export function toArrays(fields: readonly Field[], pets: Partial<Pet>[]): unknown[][] {
  return fields.map((field) => pets.map((pet) => pet[field] ?? null));
}
