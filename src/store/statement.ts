/** Statements with their values, in the dialect of a database. */
import type { Field, Table } from './table.ts';

/** What differs between databases. */
export interface Dialect {
  /** The place of the value with this number, from 1 on, that is kept in the field. */
  place(number: number, field: Field): string;
  /** The place of a value that is bound as it is. */
  mark(number: number): string;
  /** The value as it is bound. */
  toValue(field: Field, value: unknown): unknown;
  /** The name of a table. */
  nameOf(table: Table): string;
  /** A row as the contract's JSON. */
  toJsonSql(table: Table): string;
  /** SQL of a field's value with another one added, which fails where the type has no such number. */
  toSum(field: Field, bind: () => string): string;
  /** SQL of a field's value as it is found equal to others. */
  toCompared(field: Field, sql: string): string;
  /** And as it is before or behind them. */
  toOrdered(field: Field, sql: string): string;
}

/** Values in the order of their places. */
export class Statement {
  readonly values: unknown[] = [];
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  bind(field: Field, value: unknown): string {
    this.values.push(this.#dialect.toValue(field, value));
    return this.#dialect.place(this.values.length, field);
  }

  /** A field's value of the row, or this one, as they are compared. */
  toCompared(field: Field, ...values: unknown[]): string {
    return this.#dialect.toCompared(field, values.length > 0 ? this.bind(field, values[0]) : field.column);
  }

  toSum(field: Field, added: unknown): string {
    return this.#dialect.toSum(field, () => this.bind(field, added));
  }
}
