/**
 * Runs the migrations that a database still needs, on both databases. Migrations back to an earlier version do not
 * exist: if a newer program has migrated the database, the start fails and leaves the database unchanged.
 */

import { type Dialect, sqlStep } from '../changes/statement.ts';
import type { SqlSteps } from '../collection.ts';
import { countInvalidRecords } from '../contents.ts';
import type { Contents, Inspection, Migrated, StoreLimits } from '../store.ts';
import type { AnyDomain, ColumnType } from './description.ts';
import { type FoundIndex, isIndexed, toIndexSql, toWantedIndexes } from './indexes.ts';
import {
  type Applied,
  type DatabaseKind,
  loadMigrations,
  type Migration,
  migrationError,
  migrationPath,
  planMigrations,
} from './migrations.ts';
import { type Field, type Table, toTables } from './table.ts';

/** A database to be migrated. */
export interface MigrationTarget extends Pick<Dialect, 'mark' | 'nameOf' | 'toCompared' | 'toOrdered' | 'toJsonSql'> {
  kind: DatabaseKind;
  /** For each column type of a description, the name of the type in this database. */
  types: Record<ColumnType, string>;
  /** SQL that finds the table `applied_migrations`. */
  findApplied: string;
  /**
   * SQL that reads four values for each column of a table: the name, the type, whether the column is NOT NULL, and
   * whether the database fills the column itself. The last two values are 0 or 1.
   */
  selectColumns: string;
  /**
   * SQL that reads two values for each index of a table: whether the index is unique for all rows (0 or 1), and its
   * columns in order, joined by commas.
   */
  selectIndexes: string;
  /**
   * SQL that reads the foreign keys of a table, each as a text such as `shop,item items CASCADE`. `CASCADE` is missing
   * if the key does not cascade deletes.
   */
  selectReferences: string;
  /**
   * Checks the database before anything in it is changed.
   * @throws Error if the database belongs to another program, or cannot be migrated
   */
  check(applied: readonly Applied[], pending: readonly Migration[]): SqlSteps<void>;
  /** Waits until no other program is migrating the database, and begins the transaction. */
  begin(): SqlSteps<void>;
  /** Called before the first migration. In PostgreSQL, this creates the schema if it does not exist. */
  prepare(): SqlSteps<void>;
  run(sql: string): SqlSteps<void>;
  /** Creates the engine's triggers on a table of records. */
  addTriggers(table: Table): SqlSteps<void>;
  /** Called after the last migration. `count` is the number of all migrations. */
  end(count: number): SqlSteps<void>;
}

export type MigrationHooks = Pick<StoreLimits, 'onMigrated' | 'onWarning'>;

/**
 * Migrates the database, and checks its tables. @throws Error if that is not possible: after the caller has rolled
 * back, the database is unchanged
 */
export function* migrateTables(
  target: MigrationTarget,
  domain: AnyDomain,
  { onMigrated, onWarning }: MigrationHooks,
): SqlSteps<void> {
  const tables = toTables(domain);
  const migrated = yield* runMigrations(target, loadMigrations(target.kind, domain), tables);
  if (migrated) onMigrated?.(migrated);
  // The tables are checked even if no migration was pending, because the description may have changed.
  for (const warning of yield* checkTables(target, tables)) onWarning?.(warning);
}

/** The arguments of `countInvalidRecords`: the digest of the contract, and a function that checks a record. */
export type RecordCheck = Parameters<Contents['countInvalidRecords']>;

/**
 * Inspects a database without migrating it. The stored records are only checked if no migrations are pending, because a
 * pending migration may still change records.
 * @throws Error with the reason why `migrateTables` would fail
 */
export function* inspectMigrations(
  target: MigrationTarget,
  domain: AnyDomain,
  records?: RecordCheck,
): SqlSteps<Inspection> {
  const files = loadMigrations(target.kind, domain);
  const { applied, pending } = yield* plan(target, files);
  yield* target.check(applied, pending);
  if (pending.length === 0) yield* checkTables(target, toTables(domain));
  const planned = { version: applied.length, newest: files.length, pending: pending.map(migrationPath) };
  if (planned.version === 0) return { ...planned, validKeys: 0, keys: 0 };
  if (records && pending.length === 0) yield* countInvalidRecords(target, toTables(domain), ...records, false);
  const count = `SELECT count(*), count(*) FILTER (WHERE revoked_at IS NULL AND coalesce(expires_at > ${target.mark(1)}, true))
    FROM ${target.nameOf({ name: 'api_keys' })}`;
  const [[keys, validKeys]] = (yield sqlStep(count, new Date().toISOString())) as [[unknown, unknown]];
  return { ...planned, validKeys: Number(validKeys), keys: Number(keys) };
}

/** Runs the pending migrations, and commits them. Returns undefined if no migrations were pending. */
export function* runMigrations(
  target: MigrationTarget,
  files: readonly Migration[],
  tables: readonly Table[] = [],
): SqlSteps<Migrated | undefined> {
  const { applied, pending } = yield* plan(target, files);
  if (pending.length === 0) {
    yield* target.check(applied, pending);
    return undefined;
  }
  yield* target.begin();
  // Reads the applied migrations again after getting the lock, because another program may have migrated the database
  // while this one waited.
  const planned = yield* plan(target, files);
  yield* target.check(planned.applied, planned.pending);
  yield* target.prepare();
  for (const migration of planned.pending) yield* runMigration(target, migration);
  yield* checkTables(target, tables);
  for (const table of tables) yield* target.addTriggers(table);
  yield* target.end(files.length);
  yield sqlStep('COMMIT');
  return { from: planned.applied.length, to: files.length };
}

function* runMigration(target: MigrationTarget, migration: Migration): SqlSteps<void> {
  const { part, name, digest, sql } = migration;
  try {
    yield* target.run(sql);
  } catch (error) {
    throw migrationError(migration, error);
  }
  const marks = [1, 2, 3].map(target.mark);
  yield sqlStep(`INSERT INTO applied_migrations VALUES (${marks})`, part, name, digest);
}

function* plan(
  { findApplied, nameOf }: MigrationTarget,
  files: readonly Migration[],
): SqlSteps<{ applied: Applied[]; pending: Migration[] }> {
  const [found] = yield sqlStep(findApplied);
  const select = `SELECT part, name, digest FROM ${nameOf({ name: 'applied_migrations' })} ORDER BY part, name`;
  const rows = found ? yield sqlStep(select) : [];
  const applied = (rows as string[][]).map(([part, name, digest]) => ({ part, name, digest }) as Applied);
  return { applied, pending: planMigrations(files, applied) };
}

/**
 * Checks the tables. Returns one warning for each kind of statement that reads a whole table, because its index is
 * missing.
 * @throws Error that lists the differences from the description
 */
function* checkTables(target: MigrationTarget, tables: readonly Table[]): SqlSteps<string[]> {
  const warnings: string[] = [];
  for (const table of tables) {
    const columns = yield sqlStep(target.selectColumns, target.nameOf(table));
    checkColumns(table, columns as ColumnRow[], target.types);
    const rows = (yield sqlStep(target.selectIndexes, target.nameOf(table))) as [unknown, string][];
    const references = yield sqlStep(target.selectReferences, target.nameOf(table));
    const indexes = rows.map(toFoundIndex);
    checkConstraints(table, indexes, references.map(String), target.toCompared);
    warnings.push(...findUnindexed(table, indexes, target));
  }
  return warnings;
}

export const toFoundIndex = ([isUnique, columns]: [unknown, string]): FoundIndex => ({
  isUnique: Number(isUnique) === 1,
  columns: columns.split(',').map((text) => ({ sql: text.replace(/ DESC$/, ''), isDown: text.endsWith(' DESC') })),
});

/** Returns a warning for each kind of statement that reads the whole table, because its index is missing. */
function findUnindexed(table: Table, indexes: readonly FoundIndex[], target: MigrationTarget): string[] {
  const missing = toWantedIndexes(table).filter((index) => !isIndexed(index, indexes, table, target));
  return missing.map(
    (index) => `${index.use} read the whole table, for lack of an index: ${toIndexSql(table, index, target)}`,
  );
}

type ColumnRow = [name: string, type: string, isNotNull: unknown, isFilled: unknown];

/**
 * Checks the columns of a table. With a column of a type other than the described one, requests would fail, or numbers
 * would lose digits.
 * @throws Error that lists all differences
 */
function checkColumns(
  { name: table, fields, sequence }: Table,
  rows: ColumnRow[],
  types: Record<ColumnType, string>,
): void {
  const found = rows.map(([name, type, ...flags]) => {
    const [isNotNull, isFilled] = flags.map((flag) => Number(flag) === 1);
    return { name, type, isNotNull, isFilled };
  });
  if (found.length === 0) throw new Error(`its migrations do not create the table ${table}`);
  const lacksSequence = !found.some(({ name, type }) => name === sequence && type === types.int64);
  const missing = lacksSequence
    ? [`${table} has no column ${sequence} of type ${types.int64}, which its lists are ordered by`]
    : [];
  const problems = fields.flatMap(({ name, column, type, isOptional, isNullable, set }) => {
    const one = found.find(({ name }) => name === column);
    if (!one) return [`${table} has no column ${column}`];
    const own = `the column ${table}.${column}`;
    if (one.type !== types[type]) return [`${own} must be ${types[type]}, not ${one.type}`];
    return one.isNotNull && set === undefined && (isOptional || isNullable)
      ? [`${own} is NOT NULL, but ${name} may be without a value`]
      : [];
  });
  const known = new Set([sequence, ...fields.map(({ column }) => column)]);
  const empty = found.flatMap(({ name, isNotNull, isFilled }) =>
    isNotNull && !isFilled && !known.has(name)
      ? `the column ${table}.${name} is NOT NULL, and nothing fills it: describe it in domain.ts, or give it a DEFAULT`
      : [],
  );
  const own = fields.some(({ column }) => column === sequence) ? [] : missing;
  const all = [...own, ...problems, ...empty];
  if (all.length > 0) throw new Error(all.join('; '));
}

/**
 * Checks the constraints of a table. Without a constraint that the description requires, the database would silently
 * accept records that it should reject.
 * @throws Error that lists all missing constraints
 */
function checkConstraints(
  { name, fields, id, key, sequence, unique, relations }: Table,
  indexes: readonly FoundIndex[],
  foundReferences: string[],
  toCompared: Dialect['toCompared'],
): void {
  const sort = (columns: string) => columns.split(',').sort().join();
  const known = new Set(
    indexes.flatMap(({ isUnique, columns }) => (isUnique ? sort(columns.map(({ sql }) => sql).join()) : [])),
  );
  const toOwn = (column: string) => toCompared(fields.find((field) => field.column === column) as Field, column);
  const sets = [...(id.column === sequence ? [] : [key]), ...unique.map(({ columns }) => columns)];
  const wanted = sets.map((columns) => columns.map(toOwn));
  const missing = wanted.filter((columns) => !known.has(columns.toSorted().join()));
  const references = new Set(foundReferences.map((text) => text.replace(/^\S+/, sort)));
  const keys = relations.filter(({ field, columns, parent }) => {
    return !references.has(`${columns.toSorted()} ${parent.name}${field.onDelete ? ' CASCADE' : ''}`);
  });
  const problems = [
    ...missing.map((columns) => `${name} has no unique index on (${columns.join(', ')})`),
    ...keys.map(({ field: { onDelete }, columns, parent }) => {
      return `${name}.${columns.join(` with ${name}.`)} is not a foreign key to ${parent.name} ${onDelete ? 'with' : 'without'} ON DELETE CASCADE`;
    }),
  ];
  if (problems.length > 0) throw new Error(problems.join('; '));
}
