/** SQLite's dialect, and the driver that runs generators of statements on one connection. */
import type { Database } from 'better-sqlite3';
import { buildKeyRows } from '../api-keys.ts';
import type { Dialect } from '../changes/statement.ts';
import type { SqlStep, SqlSteps } from '../collection.ts';
import { type Field, type JsonDialect, perTable, shownOf, toRecordJson } from '../tables/table.ts';
import { toBound } from './insert.ts';
import { buildStatements } from './sqlite.ts';

const JSON_SQL: JsonDialect = {
  quote: (column) => `json_quote(${column})`,
  toBoolean: (column) => `CASE ${column} WHEN 0 THEN 'false' WHEN 1 THEN 'true' END`,
  // Tests for NULL, because `json_quote(NULL)` is the text `null`.
  unlessNull: (column, text) => `iif(${column} IS NULL, '', ${text})`,
};

export const toShownSql = perTable(({ fields }) => toRecordJson(shownOf(fields), JSON_SQL));

export const toCompared = ({ ignoresCase }: Field, sql: string) => (ignoresCase ? `${sql} COLLATE NOCASE` : sql);

export const DIALECT: Dialect = {
  placeholder: () => '?',
  mark: () => '?',
  toValue: toBound,
  nameOf: ({ name }) => name,
  toJsonSql: perTable(({ fields }) => toRecordJson(fields, JSON_SQL)),
  toShownSql,
  // A sum beyond 64 bits becomes a double in SQLite, and a STRICT column of integers rejects it. For 32 bits, 0.5 has the same effect.
  toSum: ({ column, type }, bind) => {
    if (type !== 'int32') return `${column} + ${bind()}`;
    return `iif(${column} + ${bind()} BETWEEN -2147483648 AND 2147483647, ${column} + ${bind()}, 0.5)`;
  },
  toCompared,
  // Numbers are stored as text, and converted here: otherwise "10" would sort before "9".
  toOrdered: (field, sql) => (field.type === 'number' ? `CAST(${sql} AS REAL)` : toCompared(field, sql)),
  elements: () => 'json_each(?)',
  now: 'unixepoch()',
  toHours: (count) => `3600 * ${count}`,
  keyOrder: 'rowid',
  row: 'rowid',
  nestsWrites: false,
  // The schema version also changes if a backup is restored.
  keyState: '(SELECT schema_version FROM pragma_schema_version)',
};

export const KEYS = buildKeyRows(DIALECT);

/** Converts a value of a team's own statement. SQLite does not have booleans. */
const toFree = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value);

/** The most prepared statements that are cached. */
const STATEMENTS = 200;

export class Driver {
  readonly #db: Database;
  readonly #statements = buildStatements(STATEMENTS);

  constructor(db: Database) {
    this.#db = db;
  }

  /** Turns a generator function into a function that runs its statements. */
  bind<Values extends unknown[], Result>(
    toSteps: (...values: Values) => SqlSteps<Result>,
  ): (...values: Values) => Result {
    return (...values) => this.drive(toSteps(...values));
  }

  /** Runs a generator to its end. If a statement fails, the error is thrown into the generator, which may catch it. */
  drive<Result>(steps: SqlSteps<Result>): Result {
    let step = steps.next();
    while (!step.done) {
      let rows: unknown[][];
      try {
        rows = this.query(step.value);
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(rows);
    }
    return step.value;
  }

  query({ sql, values, isReadOnly = false }: SqlStep): unknown[][] {
    if (!values) {
      this.#db.exec(sql);
      return [];
    }
    const known = this.#statements.get(sql);
    const statement = known ?? this.#db.prepare<unknown[], unknown[]>(sql);
    if (!known) this.#statements.set(sql, statement);
    if (isReadOnly && !(statement.reader && statement.readonly))
      throw new Error(`a statement of a domain must only read, and return rows: ${sql}`);
    if (statement.reader) return statement.raw(!isReadOnly).all(...(isReadOnly ? values.map(toFree) : values));
    statement.run(...values);
    return [];
  }
}
