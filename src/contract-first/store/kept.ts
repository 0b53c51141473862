/** The collections of a domain, each with its table and its shape. */
import { type Shape, type Shapes, toPlainShape } from './shape.ts';
import type { Field, Table } from './table.ts';

export interface Kept {
  table: Table;
  shape: Shape;
}

/** Without a shape, records are only checked by the column types. */
export const toKept = (tables: readonly Table[], shapes: Shapes): Kept[] =>
  tables.map((table) => ({ table, shape: shapes[table.collection] ?? toPlainShape(table) }));

/** For each type of id, one that no record has. */
export const NO_ID: { [Type in Field['type']]?: unknown } = { int64: 0n, text: '', uuid: '' };
