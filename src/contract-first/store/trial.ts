/** A trial create, which is rolled back: nothing else proves that creates work. */
import type { Table } from './table.ts';

/**
 * The columns and values of a trial row, in SQL. The text '1' is a value of every type in both databases. If a constraint refuses it, the
 * database has accepted the row up to there, which is proof enough.
 */
export function toTrialRow({ newFields }: Table): { columns: string[]; values: string[] } {
  return {
    columns: newFields.map(({ column }) => column),
    values: newFields.map(({ isOptional, isNullable }) => (isOptional || isNullable ? 'NULL' : "'1'")),
  };
}
