/** The SQL dialect of SQLite, and the driver that runs the statements of generators on a connection. */
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
  // Tests for NULL first, because `json_quote(NULL)` is the text `null`.
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
  // A sum of more than 64 bits becomes a double in SQLite, and an integer column of a STRICT table rejects a double.
  // For a sum of more than 32 bits, the SQL returns 0.5, so that the column rejects it in the same way.
  toSum: ({ column, type }, bind) => {
    if (type !== 'int32') return `${column} + ${bind()}`;
    return `iif(${column} + ${bind()} BETWEEN -2147483648 AND 2147483647, ${column} + ${bind()}, 0.5)`;
  },
  toCompared,
  // Numbers are stored as text, and converted for sorting, because the text "10" would come before "9".
  toOrdered: (field, sql) => (field.type === 'number' ? `CAST(${sql} AS REAL)` : toCompared(field, sql)),
  elements: () => 'json_each(?)',
  now: 'unixepoch()',
  toHours: (count) => `3600 * ${count}`,
  keyOrder: 'rowid',
  row: 'rowid',
  nestsWrites: false,
  // The schema version changes with each change of the schema, and when a backup is restored.
  keyState: '(SELECT schema_version FROM pragma_schema_version)',
};

export const KEYS = buildKeyRows(DIALECT);

/** Converts a value that a team binds to its own SQL: SQLite lacks booleans. */
const toFree = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value);

/** How many prepared statements are cached. */
const STATEMENTS = 200;

export class Driver {
  readonly #db: Database;
  readonly #statements = buildStatements(STATEMENTS);

  constructor(db: Database) {
    this.#db = db;
  }

  /** Makes a function that runs the statements of a generator function. */
  bind<Values extends unknown[], Result>(
    toSteps: (...values: Values) => SqlSteps<Result>,
  ): (...values: Values) => Result {
    return (...values) => this.drive(toSteps(...values));
  }

  /** Runs a generator to its end. The error of a failed statement is thrown into the generator, which may catch it. */
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
