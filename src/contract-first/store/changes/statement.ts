/** SQL statements with bound values, in the dialect of a database. */
import type { SqlStep } from '../collection.ts';
import type { Field, Table } from '../tables/table.ts';

export const sqlStep = (sql: string, ...values: unknown[]): SqlStep => ({ sql, values });

/** The differences between databases. */
export interface Dialect {
  /** The placeholder of a field's value, by the number of the value: 1 is the first. */
  placeholder(number: number, field: Field): string;
  /** The placeholder of a value that does not belong to a field. */
  mark(number: number): string;
  /** Converts a field's value to its bound form. */
  toValue(field: Field, value: unknown): unknown;
  /** SQL of the name of a table. */
  nameOf(table: Pick<Table, 'name'>): string;
  /** SQL of a row as JSON, with its internal columns. */
  toJsonSql(table: Table): string;
  /** SQL of a row as JSON as clients see it: without its internal columns. */
  toShownSql(table: Table): string;
  /** SQL of a sum. The statement fails if the result is outside the range of the field's type. */
  toSum(field: Field, bind: () => string): string;
  /** SQL of a value to compare for equality. */
  toCompared(field: Field, sql: string): string;
  /** SQL of a value to sort by, or to compare with the ends of a range. */
  toOrdered(field: Field, sql: string): string;
  /** SQL of a table that contains the elements of a JSON array in the column `value`. `number` is the number of the array's placeholder. */
  elements(number: number): string;
  /** SQL of the current time, in the form of `expires_at` of a stored `Idempotency-Key`. */
  now: string;
  /** SQL of a number of hours, in a form that can be added to `now`. */
  toHours(count: string): string;
  /** The column that sorts API keys from the oldest to the newest. */
  keyOrder: string;
  /** The column with the location of a row in its table. */
  row: string;
  /** Whether the database allows data-modifying statements in WITH. */
  nestsWrites: boolean;
  /**
   * SQL of a text that identifies the state of the database. If the text changes, for example because a backup was restored, all API keys
   * are read again.
   */
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

  /** SQL to compare a field for equality. Without `values` it is SQL of the row's value, and otherwise of the given value. */
  toCompared(field: Field, ...values: unknown[]): string {
    return this.#dialect.toCompared(field, values.length > 0 ? this.bind(field, values[0]) : field.column);
  }

  toSum(field: Field, added: unknown): string {
    return this.#dialect.toSum(field, () => this.bind(field, added));
  }
}
