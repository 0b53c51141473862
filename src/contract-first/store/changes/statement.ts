/** SQL statements with bound values, and the interface of the databases' SQL dialects. */
import type { SqlStep } from '../collection.ts';
import type { Field, Table } from '../tables/table.ts';

export const sqlStep = (sql: string, ...values: unknown[]): SqlStep => ({ sql, values });

/** The differences between databases. */
export interface Dialect {
  /** Returns the placeholder for the value of a field. The first value of a statement is number 1. */
  placeholder(number: number, field: Field): string;
  /** Returns the placeholder for a value that does not belong to a field. */
  mark(number: number): string;
  /** Converts the value of a field to the form that the statement binds. */
  toValue(field: Field, value: unknown): unknown;
  /** Returns the name of a table as SQL. */
  nameOf(table: Pick<Table, 'name'>): string;
  /** Returns SQL that writes a row as JSON, including its internal columns. */
  toJsonSql(table: Table): string;
  /** Returns SQL that writes a row as JSON without its internal columns, as clients see it. */
  toShownSql(table: Table): string;
  /**
   * Returns SQL that adds a bound value to a field. The statement fails if the sum is outside the range of the field's
   * type.
   */
  toSum(field: Field, bind: () => string): string;
  /**
   * Converts a column or a placeholder, `sql`, to SQL for an equality comparison of the field's values. If the field
   * ignores case, the returned SQL also does.
   */
  toCompared(field: Field, sql: string): string;
  /**
   * Converts a column or a placeholder, `sql`, to SQL for sorting the field's values, or for comparing them with the
   * ends of a range.
   */
  toOrdered(field: Field, sql: string): string;
  /**
   * Returns SQL of a table that lists the elements of a JSON array in its only column, `value`. `number` is the number
   * of the placeholder for the array.
   */
  elements(number: number): string;
  /** SQL of the current time, in the type of the column `idempotency_keys.expires_at`. */
  now: string;
  /** Returns SQL of a duration in hours, which can be added to `now`. */
  toHours(count: string): string;
  /** The column that sorts API keys from the oldest to the newest. */
  keyOrder: string;
  /** The column that contains the physical location of a row. */
  row: string;
  /** Whether the database allows data-modifying statements in WITH. */
  nestsWrites: boolean;
  /**
   * SQL of a text that identifies the state of the database. If this text has changed, for example because a backup was
   * restored, the server reads all API keys again.
   */
  keyState: string;
}

/** Builds a statement: collects the values to bind, in the order of their placeholders. */
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

  /**
   * Returns SQL for an equality comparison of a field: with an argument in `values`, the SQL of its placeholder;
   * without one, the SQL of the field's column.
   */
  toCompared(field: Field, ...values: unknown[]): string {
    return this.#dialect.toCompared(field, values.length > 0 ? this.bind(field, values[0]) : field.column);
  }

  toSum(field: Field, added: unknown): string {
    return this.#dialect.toSum(field, () => this.bind(field, added));
  }
}
