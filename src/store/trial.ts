/** A create that is tried and taken back: whether creates work is seen by no other means. */
import type { Table } from './table.ts';

/**
 * The columns and values of a row, in SQL. A text of one digit is a value of every type, in both databases; where it is not what a
 * constraint wants, the row was let in so far, and the database says so.
 */
export function toTrialRow({ newFields }: Table): { columns: string[]; values: string[] } {
  return {
    columns: newFields.map(({ column }) => column),
    values: newFields.map(({ isOptional, isNullable }) => (isOptional || isNullable ? 'NULL' : "'1'")),
  };
}
