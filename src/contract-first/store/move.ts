/**
 * Copies all rows of a database to an empty database. The reads see one snapshot, and the writes are in one
 * transaction.
 */
import type { MovedTable, MovingSide } from './contents.ts';
import type { Database } from './database-url.ts';
import { inspectDatabase, nameOfDatabase, openStore } from './open-store.ts';
import { openSqliteToMove } from './sqlite/move.ts';
import { StoreError, StoreUnavailable } from './store.ts';
import type { AnyDomain } from './tables/description.ts';
import { toTables } from './tables/table.ts';

/** The limits for opening the target. Opening only creates or migrates the tables, so no writes wait. */
const TARGET_LIMITS = { createTimeout: 10_000, maxCreates: 1 };

/** The progress of a move, for the message if the move fails. */
interface Progress {
  /** The database that the current step uses. If the step fails, the message begins with the name of this database. */
  at: Database;
  /** The last sentence of the message, which describes the state of the target, for example `Nothing was moved.` */
  outcome: string;
  readonly sides: MovingSide[];
}

/**
 * Moves all rows of all tables. Returns a map from a table's word, such as `keys`, to the number of copied rows.
 * @throws StoreError with the reason and the state of the target
 */
export function move(from: Database, to: Database, domain: AnyDomain): Promise<Map<string, number>> {
  const progress: Progress = { at: from, outcome: 'Nothing was moved.', sides: [] };
  const fail = (error: unknown) => {
    const isWrapped = error instanceof StoreUnavailable || error instanceof StoreError;
    const { message } = (isWrapped ? error.cause : error) as Error;
    throw new StoreError(`${nameOfDatabase(progress.at)}: ${message}. ${progress.outcome}`, { cause: error });
  };
  return moveAll(progress, from, to, domain)
    .finally(() => {
      for (const side of progress.sides) side.end();
    })
    .catch(fail);
}

async function moveAll(progress: Progress, from: Database, to: Database, domain: AnyDomain) {
  if ((await checkVersion(from, domain)) === 0) throw new Error('it has no tables of this program');
  progress.at = to;
  await checkVersion(to, domain);
  await (await openStore(to, domain, TARGET_LIMITS)).close();
  progress.at = from;
  const source = await open(progress, false);
  progress.at = to;
  const target = await open(progress, true);
  const tables = toMovedTables(domain, source.keyOrder);
  await checkEmpty(target, tables);
  const counts = new Map<string, number>();
  for (const table of tables) {
    const { name, word, isNumbered } = table;
    if (word === undefined) await target.query(`DELETE FROM ${name}`);
    progress.at = from;
    const last = isNumbered && (await source.readLast(table));
    let count = 0;
    for await (const rows of source.read(table)) {
      progress.at = to;
      await target.insert(table, rows);
      progress.at = from;
      count += rows.length;
    }
    progress.at = to;
    if (last) await target.raiseLast(table, last);
    if (word) counts.set(word, count);
  }
  progress.at = from;
  const [salt] = await source.query('SELECT salt FROM api_key_changes');
  progress.at = to;
  // The target gets the salt of the source, because the ids of configured keys depend on it.
  await target.query(`UPDATE api_key_changes SET salt = ${target.mark(1)}`, salt);
  progress.outcome =
    'Either everything was moved or nothing. Try again: if the target is not empty then, everything was moved.';
  await target.commit();
  return counts;
}

/**
 * Returns how many migrations have run on a database; 0 if the database does not exist yet.
 * @throws Error if some migrations of this program have not run on the database yet
 */
async function checkVersion(database: Database, domain: AnyDomain): Promise<number> {
  if (database.kind === 'memory') throw new Error('no other program can see it');
  const { version, newest } = await inspectDatabase(database, domain);
  if (version !== 0 && version < newest)
    throw new Error(`its version is ${version}, and not ${newest}: start this program on it first, which migrates it`);
  return version;
}

async function open({ at, sides }: Progress, isTarget: boolean): Promise<MovingSide> {
  const side = await connect(at);
  sides.push(side);
  await side.begin(isTarget);
  return side;
}

async function connect(database: Database): Promise<MovingSide> {
  if (database.kind !== 'postgres') return openSqliteToMove((database as { file: string }).file);
  const { openPostgresToMove } = await import('./postgres/move.ts');
  return openPostgresToMove(database);
}

async function checkEmpty(target: MovingSide, tables: readonly MovedTable[]): Promise<void> {
  const selects = tables.flatMap(({ word, name }) =>
    word === undefined ? [] : `SELECT '${word}' WHERE EXISTS (SELECT 1 FROM ${name})`,
  );
  const held = (await target.query(selects.join(' UNION ALL '))).flat();
  if (held.length > 0) throw new Error(`it has ${held.join(' and ')} already, and must be empty`);
}

/** Returns the tables to move, every table after the tables that its foreign keys refer to. */
function toMovedTables(domain: AnyDomain, keyOrder: string): MovedTable[] {
  const texts = (...columns: string[]) => columns.map((column) => ({ column, type: 'text' as const }));
  const int64 = (column: string) => ({ column, type: 'int64' as const });
  const records = toTables(domain).map(({ name, sequence, fields, collection: word }): MovedTable => {
    const isHidden = !fields.some(({ column }) => column === sequence);
    const columns = isHidden ? [int64(sequence), ...fields] : fields;
    return { name, columns, order: sequence, word, isNumbered: true };
  });
  const key = texts('id', 'name', 'hash', 'created_at', 'expires_at', 'revoked_at', 'scopes', 'rate');
  const known = [
    ...texts('caller', 'operation', 'key', 'digest', 'answer'),
    { ...int64('expires_at'), isSeconds: true as const },
  ];
  return [
    ...records,
    { name: 'api_keys', columns: key, order: keyOrder, word: 'keys' },
    { name: 'key_uses', columns: texts('key_id', 'used_at'), order: 'key_id' },
    { name: 'idempotency_keys', columns: known, order: 'expires_at' },
    { name: 'passed_check', columns: texts('contract'), order: 'contract' },
    { name: 'deleted_revisions', columns: [...texts('name'), int64('revision')], order: 'name' },
  ];
}
