/** The next migration of each collection: compares the tables that SQLite's files make with the descriptions. */
import { toSqlLiteral } from '../../json/literals.ts';
import { Driver } from '../../store/sqlite/drive.ts';
import { runAlone, SELECT_NAMED_INDEXES, TARGET } from '../../store/sqlite/migrate.ts';
import { Sqlite } from '../../store/sqlite/sqlite.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { isIndexed, toIndexSql, toWantedIndexes } from '../../store/tables/indexes.ts';
import { runMigrations, toFoundIndex } from '../../store/tables/migrate.ts';
import { type DatabaseKind, loadMigrations } from '../../store/tables/migrations.ts';
import { type Field, mayBeAbsent, type Table, toTables } from '../../store/tables/table.ts';
import { type SqlWriter, WRITERS, writeColumn, writeTable } from './table-sql.ts';

/** The answers of a developer: `things.note`, and `things.note` with its new name. */
export interface Answers {
  drop: ReadonlySet<string>;
  rename: ReadonlyMap<string, string>;
}

export interface NextMigration extends Record<DatabaseKind, string> {
  collection: string;
}

/** The migrations to write. If questions must be answered first, it returns them, and nothing is written. */
export interface Next {
  migrations: NextMigration[];
  questions: string[];
}

/** A table after all migrations. */
interface Made {
  columns: { name: string; type: string }[];
  indexes: { name: string; isOwn: boolean; columns: string[] }[];
}

/** @throws Error if a migration fails */
export function findNext(domain: AnyDomain, answers: Answers): Next {
  const db = new Sqlite(':memory:');
  runAlone(db, runMigrations(TARGET, loadMigrations('sqlite', domain)));
  const all = toTables(domain).map((table) => {
    const made = readTable(new Driver(db), table.name);
    if (made.columns.length === 0) return { collection: table.collection, questions: [], ...writeBoth(table) };
    return { collection: table.collection, ...compare(table, made, answers, new Driver(db)) };
  });
  db.close();
  const migrations = all.filter(({ sqlite }) => sqlite !== '');
  return { migrations, questions: all.flatMap(({ questions }) => questions) };
}

const writeBoth = (table: Table) => ({
  sqlite: writeTable(table, WRITERS.sqlite),
  postgres: writeTable(table, WRITERS.postgres),
});

function readTable(driver: Driver, name: string): Made {
  const query = (sql: string) => driver.query({ sql, values: [name] }) as string[][];
  const columns = query(TARGET.selectColumns).map(([column, type]) => ({ name: column, type }));
  const indexes = query(SELECT_NAMED_INDEXES);
  return {
    columns: columns as Made['columns'],
    indexes: indexes.map(([index = '', origin, all = '']) => ({
      name: index,
      isOwn: origin === 'c',
      columns: all.split(','),
    })),
  };
}

function compare(table: Table, made: Made, answers: Answers, driver: Driver) {
  const { name, fields, sequence } = table;
  const changes = new Changes(table, made);
  const known = new Set([sequence, ...fields.map(({ column }) => column)]);
  const renamed = new Set<string>();
  for (const { name: column } of made.columns.filter((one) => !known.has(one.name))) {
    const now = answers.rename.get(`${name}.${column}`);
    if (now !== undefined && known.has(now)) {
      changes.rename(column, now);
      renamed.add(now);
    } else if (answers.drop.has(`${name}.${column}`)) changes.drop(column);
    else
      changes.ask(
        `no field has the column ${name}.${column}: --drop ${name}.${column}, or --rename ${name}.${column}=COLUMN`,
      );
  }
  for (const field of fields) {
    const found = made.columns.find((one) => one.name === field.column);
    if (found && found.type !== TARGET.types[field.type])
      changes.ask(
        `${name}.${field.column} is ${found.type}, not ${TARGET.types[field.type]}: write this migration by hand`,
      );
    if (!found && !renamed.has(field.column)) changes.add(field);
  }
  const rows = driver.query({ sql: TARGET.selectIndexes, values: [name] }) as [unknown, string][];
  const kept = rows.map(toFoundIndex).filter(({ columns }) => columns.every(({ sql }) => !changes.dropped.has(sql)));
  for (const index of toWantedIndexes(table).filter((one) => !isIndexed(one, kept, table, TARGET)))
    changes.all((writer) => `${toIndexSql(table, index, writer.dialect)};`);
  return changes.result();
}

/** The statements of one table's migration, for both databases. */
class Changes {
  readonly dropped = new Set<string>();
  readonly #table: Table;
  readonly #made: Made;
  readonly #questions: string[] = [];
  readonly #statements: Record<DatabaseKind, string[]> = { sqlite: [], postgres: [] };

  constructor(table: Table, made: Made) {
    this.#table = table;
    this.#made = made;
  }

  ask(question: string): void {
    this.#questions.push(question);
  }

  all(write: (writer: SqlWriter) => string): void {
    for (const writer of Object.values(WRITERS)) this.#statements[writer.kind].push(write(writer));
  }

  rename(column: string, now: string): void {
    this.all(() => `ALTER TABLE ${this.#table.name} RENAME COLUMN ${column} TO ${now};`);
  }

  /** SQLite cannot drop a column that an index uses. PostgreSQL drops the index with it. */
  drop(column: string): void {
    const indexes = this.#made.indexes.filter(({ columns }) => columns.includes(column));
    if (indexes.some(({ isOwn }) => !isOwn)) {
      this.ask(`a constraint of ${this.#table.name} has the column ${column}: write this migration by hand`);
      return;
    }
    this.dropped.add(column);
    for (const { name } of indexes) this.all(() => `DROP INDEX ${name};`);
    this.all(() => `ALTER TABLE ${this.#table.name} DROP COLUMN ${column};`);
  }

  add(field: Field): void {
    const { name } = this.#table;
    const value = mayBeAbsent(field) ? undefined : toDefault(field);
    if (!mayBeAbsent(field) && value === undefined) {
      this.ask(
        `${name}.${field.column} has no value for the records that are there: give it a \`first\`, or write this migration by hand`,
      );
      return;
    }
    const end = value === undefined ? '' : ` DEFAULT ${value}`;
    this.all((writer) => `ALTER TABLE ${name} ADD COLUMN ${writeColumn(field, this.#table, writer)}${end};`);
  }

  result(): Record<DatabaseKind, string> & { questions: string[] } {
    const { sqlite, postgres } = this.#statements;
    const toText = (statements: string[]) => statements.map((statement) => `${statement}\n`).join('');
    return { sqlite: toText(sqlite), postgres: toText(postgres), questions: this.#questions };
  }
}

/** The value for existing records, in SQL; undefined if the description has none. */
function toDefault({ first, set, type }: Field): string | undefined {
  if (set === 'revision') return '1';
  if (first === undefined || set !== undefined || type === 'json' || type === 'boolean' || type === 'number')
    return undefined;
  return typeof first === 'string' ? toSqlLiteral(first) : String(first);
}
