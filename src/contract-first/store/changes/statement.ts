/** SQL statements with bound values, in the dialect of a database. */
import type { SqlStep } from '../collection.ts';
import type { Field, Table } from '../tables/table.ts';

export const sqlStep = (sql: string, ...values: unknown[]): SqlStep => ({ sql, values });

/** The differences between databases. */
export interface Dialect {
  /** The placeholder of the value with this number, from 1 on, for a field. */
  placeholder(number: number, field: Field): string;
  /** The placeholder of a value that belongs to no field. */
  mark(number: number): string;
  /** The value as it is bound, for a field. */
  toValue(field: Field, value: unknown): unknown;
  /** The name of a table. */
  nameOf(table: Pick<Table, 'name'>): string;
  /** A row as JSON, with its internal columns. */
  toJsonSql(table: Table): string;
  /** A row as the contract's JSON, which clients see. */
  toShownSql(table: Table): string;
  /** SQL of a sum, which fails if the result leaves the range of the field's type. */
  toSum(field: Field, bind: () => string): string;
  /** SQL of a value in comparisons for equality. */
  toCompared(field: Field, sql: string): string;
  /** SQL of a value in orders and ranges. */
  toOrdered(field: Field, sql: string): string;
  /** SQL of a table: the elements of the bound JSON array, each as `value`. */
  elements(number: number): string;
  /** SQL of the current time, as `expires_at` of a stored `Idempotency-Key` has it. */
  now: string;
  /** SQL of as many hours, which can be added to it. */
  toHours(count: string): string;
  /** The column that tells which of two API keys came first. */
  keyOrder: string;
  /** The column that says where a row is stored. */
  row: string;
  /** Whether a statement that writes may stand within another one. */
  nestsWrites: boolean;
  /** SQL of a text. Where it has changed, the API keys may be those of another time: all of them are read. */
  keyState: string;
}

/** Collects values in the order of their placeholders. */
export class Statement {
  readonly values: unknown[] = [];
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  bind(field: Field, value: unknown): string {
    this.values.push(this.#dialect.toValue(field, value));
    return this.#dialect.placeholder(this.values.length, field);
  }

  /** SQL of the row's value, or of this one, for comparisons. */
  toCompared(field: Field, ...values: unknown[]): string {
    return this.#dialect.toCompared(field, values.length > 0 ? this.bind(field, values[0]) : field.column);
  }

  toSum(field: Field, added: unknown): string {
    return this.#dialect.toSum(field, () => this.bind(field, added));
  }
}
