/**
 * Writes the next migration of each collection: compares the tables that SQLite's migrations create with the
 * descriptions.
 */
import { toSqlLiteral } from '../../json/literals.ts';
import { areSame } from '../../store/changes/changes.ts';
import { POSTGRES_TYPES, type PostgresType } from '../../store/postgres/dialect.ts';
import { Driver } from '../../store/sqlite/drive.ts';
import { runAlone, SELECT_NAMED_INDEXES, TARGET } from '../../store/sqlite/migrate.ts';
import { writeConversion, writeRebuild } from '../../store/sqlite/rebuild.ts';
import { Sqlite } from '../../store/sqlite/sqlite.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { type FoundIndex, isIndexed, toIndexSql, toWantedIndexes } from '../../store/tables/indexes.ts';
import { runMigrations, toFoundIndex } from '../../store/tables/migrate.ts';
import { type DatabaseKind, loadMigrations, type Migration } from '../../store/tables/migrations.ts';
import { type Field, mayBeAbsent, type Table, toTables } from '../../store/tables/table.ts';
import { readPostgresTypes, toPostgresValue, toSqliteValue } from './postgres-types.ts';
import {
  isUniqueName,
  type SqlWriter,
  toReference,
  WRITERS,
  writeColumn,
  writeCreate,
  writeTable,
  writeUnique,
} from './table-sql.ts';

/**
 * The developer's answers on the command line. `drop` contains columns to drop, such as `things.note`. `rename`
 * contains new names, by the old names.
 */
export interface Answers {
  drop: ReadonlySet<string>;
  rename: ReadonlyMap<string, string>;
}

export interface NextMigration extends Record<DatabaseKind, string> {
  collection: string;
}

/** The migrations to write. If there are questions, the developer must answer them before any migration is written. */
export interface Next {
  migrations: NextMigration[];
  questions: string[];
}

interface NamedIndex extends FoundIndex {
  name: string;
  /** True if a statement CREATE INDEX has made the index. False if a constraint of the table has made it. */
  isOwn: boolean;
}

/** A table as it is after all migrations for SQLite have run. */
interface Made {
  columns: { name: string; type: string; isNotNull: boolean }[];
  indexes: NamedIndex[];
  /**
   * The foreign keys as texts: the sorted columns, the table that they refer to, and CASCADE if deletes cascade:
   * `item,shop items CASCADE`.
   */
  references: string[];
}

interface Files {
  /** The database in memory, after the migrations for SQLite. */
  driver: Driver;
  /** The migrations for PostgreSQL, which are only read, not run. */
  postgres: readonly Migration[];
}

/** Compares all tables with the descriptions. @throws Error if an existing migration fails */
export function findNext(domain: AnyDomain, answers: Answers): Next {
  const db = new Sqlite(':memory:');
  runAlone(db, runMigrations(TARGET, loadMigrations('sqlite', domain)));
  const files: Files = { driver: new Driver(db), postgres: loadMigrations('postgres', domain) };
  const all = toTables(domain).map((table) => {
    const made = readTable(files.driver, table.name);
    if (made.columns.length === 0) return { collection: table.collection, questions: [], ...writeBoth(table) };
    return { collection: table.collection, ...compare(table, made, answers, files) };
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
  return {
    columns: query(TARGET.selectColumns).map(([column = '', type = '', isNotNull]) => ({
      name: column,
      type,
      isNotNull: Number(isNotNull) === 1,
    })),
    indexes: query(SELECT_NAMED_INDEXES).map(([index = '', origin, isUnique, columns = '']) => ({
      name: index,
      isOwn: origin === 'c',
      ...toFoundIndex([isUnique, columns]),
    })),
    references: query(TARGET.selectReferences).map(([text = '']) =>
      text.replace(/^\S+/, (columns) => columns.split(',').sort().join()),
    ),
  };
}

function compare(table: Table, before: Made, answers: Answers, { driver, postgres }: Files) {
  const changes = new Changes(table, driver);
  const known = new Set([table.sequence, ...table.fields.map(({ column }) => column)]);
  const unknown = before.columns.filter((one) => !known.has(one.name)).map((one) => `${table.name}.${one.name}`);
  const isRenamed = (column: string) => known.has(answers.rename.get(column) ?? '');
  for (const column of unknown.filter(isRenamed)) changes.rename(column, answers.rename.get(column) as string);
  const made = readTable(driver, table.name);
  const indexes = changes.dropFormer(made.indexes);
  const types = readPostgresTypes([...postgres.map(({ sql }) => sql), ...changes.renames], table.name);
  for (const column of unknown.filter((one) => !isRenamed(one))) {
    if (answers.drop.has(column)) changes.drop(column, indexes);
    else changes.ask(`no field has the column ${column}: --drop ${column}, or --rename ${column}=COLUMN`);
  }
  for (const field of table.fields) {
    const found = made.columns.find((one) => one.name === field.column);
    if (!found) changes.add(field);
    else if (field.column !== table.sequence) changes.alter(field, found, types.get(field.column));
  }
  changes.refer(made.references);
  changes.index(indexes);
  return changes.result();
}

/** Collects the changes of one table, and writes its migration for both databases. */
class Changes {
  readonly #table: Table;
  readonly #driver: Driver;
  readonly #questions: string[] = [];
  readonly renames: string[] = [];
  readonly #dropped = new Set<string>();
  readonly #added = new Set<Field>();
  /**
   * The values of new and changed columns as SQL, by field. The values are computed from the old rows if SQLite
   * rebuilds the table.
   */
  readonly #values = new Map<Field, string>();
  readonly #statements: Record<DatabaseKind, string[]> = { sqlite: [], postgres: [] };
  /**
   * The statements that create new indexes, if SQLite rebuilds the table. The rebuild itself creates the indexes of the
   * old table.
   */
  readonly #indexes: string[] = [];
  readonly #droppedIndexes: string[] = [];
  #isRebuilt = false;

  constructor(table: Table, driver: Driver) {
    this.#table = table;
    this.#driver = driver;
  }

  ask(question: string): void {
    this.#questions.push(question);
  }

  /** Renames a column. Also renames it in the database in memory, so that later comparisons use the new name. */
  rename(column: string, now: string): void {
    const sql = `ALTER TABLE ${this.#table.name} RENAME COLUMN ${column.replace(/^.*\./, '')} TO ${now};`;
    this.#driver.query({ sql });
    this.renames.push(sql);
  }

  /** Drops a column. First drops the indexes that use it, because SQLite cannot drop a column of an index. */
  drop(name: string, indexes: readonly NamedIndex[]): void {
    const column = name.replace(/^.*\./, '');
    this.#dropped.add(column);
    const own = indexes.filter((index) => index.isOwn && isOn(index, column));
    const statements = [
      ...own.map((index) => `DROP INDEX ${index.name};`),
      `ALTER TABLE ${this.#table.name} DROP COLUMN ${column};`,
    ];
    this.#all(() => statements.join('\n'));
    const former = this.#droppedIndexes.map((index) => `DROP INDEX ${index};`);
    this.#isRebuilt ||= !canRun(this.#driver, [...former, ...statements]);
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
    this.#added.add(field);
    this.#values.set(field, value ?? 'NULL');
    const end = value === undefined ? '' : ` DEFAULT ${value}`;
    this.#all((writer) => `ALTER TABLE ${name} ADD COLUMN ${writeColumn(field, this.#table, writer)}${end};`);
  }

  /**
   * Changes the type of a column, or whether it is NOT NULL. The migration fails at a value that does not fit the new
   * type. `before` is the old type in PostgreSQL.
   */
  alter(field: Field, { type, isNotNull }: Made['columns'][number], before: PostgresType | undefined): void {
    const { column } = field;
    const { name } = this.#table;
    const now = POSTGRES_TYPES[field.type];
    const isStoredAlike = type === TARGET.types[field.type];
    const isOther = !isStoredAlike || (before ?? now) !== now;
    const isFit = isNotNull !== mayBeAbsent(field);
    if (!isOther && isFit) return;
    const value = mayBeAbsent(field) || isNotNull ? undefined : toDefault(field);
    const fill = (sql: string) => (value === undefined ? sql : `coalesce(${sql}, ${value})`);
    const sqlite = isOther ? toSqliteValue(column, before, now) : column;
    this.#isRebuilt ||= !(isStoredAlike && isFit);
    this.#values.set(field, fill(sqlite));
    this.#statements.sqlite.push(
      sqlite === column ? `-- SQLite stores ${name}.${column} as before.` : writeConversion(name, column, sqlite),
    );
    const pgType = WRITERS.postgres.typeOf(field.type);
    const cast = isOther ? toPostgresValue(column, before, now) : column;
    const parts = [
      'DROP DEFAULT',
      ...(isOther || value !== undefined ? [`TYPE ${pgType} USING ${fill(cast)}`] : []),
      `${mayBeAbsent(field) ? 'DROP' : 'SET'} NOT NULL`,
    ].map((part) => `ALTER COLUMN ${column} ${part}`);
    this.#statements.postgres.push(`ALTER TABLE ${name} ${parts.join(', ')};`);
  }

  /**
   * Changes the foreign keys to those in the description. Old foreign keys are dropped by the names that PostgreSQL has
   * given them after their columns.
   */
  refer(found: readonly string[]): void {
    const { name, relations } = this.#table;
    // Leaves out foreign keys of new columns, because the statement that adds the column also adds its foreign key.
    // Foreign keys that include the tenant are not left out.
    const wanted = relations
      .filter(({ field, columns }) => columns.length > 1 || !this.#added.has(field))
      .map((relation) => ({ relation, text: toReferenceText(relation) }));
    const gone = found.filter((text) => !wanted.some((one) => one.text === text));
    const added = wanted.filter(({ text }) => !found.includes(text));
    if (gone.length + added.length === 0) return;
    this.#isRebuilt = true;
    const columnsOf = (text: string) => text.replace(/ .*$/, '').split(',');
    const kept = gone.map(columnsOf).filter((columns) => !columns.some((column) => this.#dropped.has(column)));
    this.#statements.postgres.push(
      ...kept.map((columns) => `ALTER TABLE ${name} DROP CONSTRAINT ${name}_${columns.join('_')}_fkey;`),
      ...added.map(
        ({ relation }) =>
          `ALTER TABLE ${name} ADD FOREIGN KEY (${relation.columns.join(', ')}) ${toReference(relation)};`,
      ),
    );
  }

  /**
   * Drops indexes for unique sets that are no longer in the description. If such an index rejected a record, the
   * request would be answered with 500. Returns the remaining indexes.
   */
  dropFormer(found: readonly NamedIndex[]): NamedIndex[] {
    const table = this.#table;
    const isFormer = (index: NamedIndex) =>
      index.isOwn &&
      index.isUnique &&
      isUniqueName(table, index.name) &&
      !table.unique.some(({ columns }) => isUniqueIn([index], table, columns));
    for (const { name } of found.filter(isFormer)) {
      this.#droppedIndexes.push(name);
      this.#all(() => `DROP INDEX ${name};`);
    }
    return found.filter((index) => !isFormer(index));
  }

  /** Adds the unique key and the indexes that the description needs and the table does not have. */
  index(found: readonly FoundIndex[]): void {
    const table = this.#table;
    const { id, key, sequence } = table;
    const kept = found.filter((index) => ![...this.#dropped].some((column) => isOn(index, column)));
    if (id.column !== sequence && !isUniqueIn(kept, table, key)) {
      // The unique key has changed, because the tenant has. SQLite cannot add a unique key to a table, so the table is
      // rebuilt with it.
      this.#isRebuilt = true;
      this.#statements.postgres.push(`ALTER TABLE ${table.name} ADD UNIQUE (${key.join(', ')});`);
    }
    for (const { columns } of table.unique.filter((one) => !isUniqueIn(kept, table, one.columns)))
      this.#create((writer) => writeUnique(table, columns, writer));
    for (const one of toWantedIndexes(table).filter((one) => !isIndexed(one, kept, table, TARGET)))
      this.#create((writer) => `${toIndexSql(table, one, writer.dialect)};`);
  }

  #create(write: (writer: SqlWriter) => string): void {
    this.#indexes.push(write(WRITERS.sqlite));
    this.#all(write);
  }

  #all(write: (writer: SqlWriter) => string): void {
    for (const writer of Object.values(WRITERS)) this.#statements[writer.kind].push(write(writer));
  }

  result(): Record<DatabaseKind, string> & { questions: string[] } {
    const { sqlite, postgres } = this.#statements;
    const toText = (statements: string[]) => [...this.renames, ...statements].map((one) => `${one}\n`).join('');
    return {
      sqlite: toText(this.#isRebuilt ? this.#rebuild() : sqlite),
      postgres: toText(postgres),
      questions: this.#questions,
    };
  }

  #rebuild(): string[] {
    const toValue = (field: Field) => this.#values.get(field) ?? field.column;
    const { statements, unfit } = writeRebuild(this.#table, this.#driver, {
      dropped: this.#dropped,
      droppedIndexes: this.#droppedIndexes,
      toValue,
      toCreate: (name, more) => writeCreate(this.#table, WRITERS.sqlite, name, more),
    });
    for (const trigger of unfit)
      this.ask(`the trigger ${trigger} of ${this.#table.name} uses a dropped column: write this migration by hand`);
    return [...statements, ...this.#indexes];
  }
}

/** True if the index uses the column. */
const isOn = ({ columns }: FoundIndex, column: string) =>
  columns.some(({ sql }) => sql.replace(/ COLLATE .*$/, '') === column);

function isUniqueIn(found: readonly FoundIndex[], { fields }: Table, wanted: readonly string[]): boolean {
  const own = wanted.map((column) => TARGET.toCompared(fields.find((one) => one.column === column) as Field, column));
  return found.some(
    ({ isUnique, columns }) =>
      isUnique &&
      areSame(
        own,
        columns.map(({ sql }) => sql),
      ),
  );
}

const toReferenceText = ({ field, columns, parent }: Table['relations'][number]) =>
  `${columns.toSorted()} ${parent.name}${field.onDelete ? ' CASCADE' : ''}`;

/** True if SQLite can run the statements. Rolls them back afterwards. */
function canRun(driver: Driver, statements: readonly string[]): boolean {
  let isFit = true;
  driver.query({ sql: 'SAVEPOINT trial' });
  try {
    for (const sql of statements) driver.query({ sql });
  } catch {
    isFit = false;
  }
  driver.query({ sql: 'ROLLBACK TO trial; RELEASE trial' });
  return isFit;
}

/** Returns the value for existing records as SQL, or undefined if the description does not give one. */
function toDefault({ first, set, type }: Field): string | undefined {
  if (set === 'revision') return '1';
  if (first === undefined || set !== undefined || type === 'json' || type === 'boolean' || type === 'number')
    return undefined;
  return typeof first === 'string' ? toSqlLiteral(first) : String(first);
}
