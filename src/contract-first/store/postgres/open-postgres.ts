/**
 * Opens the store on PostgreSQL, which servers on several machines may share. Waiting reads and writes are coalesced.
 */
import { buildKeyRows } from '../api-keys.ts';
import { buildCollections, type PlainReads } from '../build-collection.ts';
import { type Change, type Create, isTransactionCall, type Outcome, type TransactionCall } from '../changes/changes.ts';
import { type AnyTransactions, NO_TRANSACTIONS, type OfDomain } from '../changes/transactions.ts';
import type { SqlSteps } from '../collection.ts';
import { countInvalidRecords } from '../contents.ts';
import { fromCursor } from '../cursors.ts';
import { type Store, StoreCounts, type StoreLimits, StoreUnavailable } from '../store.ts';
import type { AnyDomain } from '../tables/description.ts';
import { migrateTables } from '../tables/migrate.ts';
import { NO_ID, type RecordCodec, type StoredTable, toStoredTables } from '../tables/record-codec.ts';
import { type Table, toTables } from '../tables/table.ts';
import { toStoredName } from '../tables/values.ts';
import { buildRunChanges, MOST_CALLS, MOST_CHANGES } from './changes.ts';
import { buildInsert, buildProveWritable, ClientWrites } from './client-writes.ts';
import { type BatchLoader, coalesce } from './coalescing.ts';
import type { PostgresConnection } from './connection.ts';
import { ConnectionPool, type RunTask, type Task } from './connection-pool.ts';
import { quote, toDialect } from './dialect.ts';
import { drive, driveReading } from './drive.ts';
import { buildMigrationTarget } from './migrate.ts';
import { buildConnect, buildRead } from './primary.ts';
import { buildGetRecords, buildListRecords } from './reads.ts';
import type { PostgresSettings } from './settings.ts';
import { buildWindowCounters } from './window-counters.ts';

/**
 * The number of connections for reads. An additional connection writes. More connections for reads would not be faster,
 * because each connection handles all waiting reads with one statement.
 */
const READERS = 3;
/** How long a call may take, in milliseconds, so that clients get an answer after two seconds at most. */
const CALL_TIMEOUT = 1700;
/**
 * How long each step of the start may take, in milliseconds. The time is long, because the database may be starting at
 * the same time on a busy machine.
 */
const START_TIMEOUT = 10_000;
/** PostgreSQL cancels a read, and an attempt to connect is given up, after this share of the call's timeout. */
const READ_SHARE = 0.6;
/**
 * A write must begin within this share of the call's timeout. Once begun, it may run for as long again; then PostgreSQL
 * cancels the write, so that it does not take effect.
 */
const WRITE = 0.4;
/** A transaction must begin within this share of the call's timeout. */
const TRANSACTION = 0.7;

const CANNOT_WRITE = new Error('the database can only be read');

/**
 * Opens the store on PostgreSQL. @throws Error if no server can be used, or if a newer program has migrated the schema
 */
export async function openPostgres(
  settings: PostgresSettings,
  domain: AnyDomain,
  limits: StoreLimits,
  { codecs = {}, transactions = NO_TRANSACTIONS }: OfDomain = {},
  timeout = CALL_TIMEOUT,
  startTimeout = START_TIMEOUT,
): Promise<Store> {
  const connect = buildConnect(settings);
  const connectToStart = () => connect({ toConnect: startTimeout, toAnswer: startTimeout });
  const target = buildMigrationTarget(settings.schema);
  await onConnection(connectToStart, (connection) => drive(connection, migrateTables(target, domain, limits)));
  const readLimit = Math.ceil(READ_SHARE * timeout);
  const connectToRead = () => connect({ toConnect: readLimit, toAnswer: readLimit });
  const reading = new ConnectionPool({ connect: connectToRead, count: READERS, waitTimeout: timeout, timeout });
  const writeTimeout = Math.min(timeout, limits.createTimeout);
  const writeLimit = Math.ceil(WRITE * writeTimeout);
  const connectToWrite = () => connect({ toConnect: readLimit, toAnswer: writeLimit, isForChanges: true });
  const writing = new ConnectionPool({
    connect: connectToWrite,
    count: 1,
    waitTimeout: writeLimit,
    transactionWait: Math.ceil(TRANSACTION * writeTimeout),
    timeout: writeTimeout,
  });
  const close = async () => {
    await Promise.all([reading.close(), writing.close()]);
  };
  try {
    await Promise.all([reading.untilOpen(startTimeout), writing.untilOpen(startTimeout)]);
  } catch (error) {
    await close();
    throw error;
  }
  const store = { reading, writing, connectToStart, connectToRead, schema: quote(settings.schema), close };
  return buildStore(store, toStoredTables(toTables(domain), codecs), transactions.all, limits.maxCreates);
}

interface Opened {
  reading: ConnectionPool;
  writing: ConnectionPool;
  connectToStart: () => Promise<PostgresConnection>;
  connectToRead: () => Promise<PostgresConnection>;
  schema: string;
  close: () => Promise<void>;
}

function buildStore(opened: Opened, stored: readonly StoredTable[], calls: AnyTransactions, maxCreates: number): Store {
  const { reading, writing, connectToStart, connectToRead, schema, close } = opened;
  const read = buildRead(reading.run, connectToRead);
  const counts = new StoreCounts();
  counts.pools = () => ({ read: reading.pool(), write: writing.pool() });
  const writes = new ClientWrites(writing, maxCreates, counts);
  const tables = stored.map(({ table }) => table);
  const dialect = toDialect(schema);
  const all = stored.map((one) => buildOwn(one, schema, read, writes));
  const collections = buildCollections(all, {
    calls,
    read: (toSteps) => read((connection) => drive(connection, toSteps())),
    readAll: (toSteps) => read((connection) => driveReading(connection, schema, toSteps())),
    dialect,
    change: buildChange(writes, writing.runTransaction, buildRunChanges(schema, stored, calls)),
  });
  const names = tables.map(({ name }) => name);
  const proveWritable = coalesce(writing.run, writes.proving(names, buildProveWritable(schema, tables)));
  const countWindow = coalesce(reading.run, buildWindowCounters(schema));
  const keys = buildKeyRows(dialect);
  return {
    collections,
    countInvalidRecords: (contract, fits) =>
      onConnection(connectToStart, (connection) =>
        drive(connection, countInvalidRecords(dialect, tables, contract, fits)),
      ),
    createKey: through(writing.runOnce, keys.insert),
    listKeys: through(read, keys.list),
    readKeys: async (since) => {
      const changes = await through(read, keys.readChanges)(since);
      // The text `version` begins with the value of `transaction_read_only`, which is `on` if the server is read-only.
      if (changes.version.startsWith('on ')) throw new StoreUnavailable(CANNOT_WRITE);
      return changes;
    },
    revokeKey: through(writing.runOnce, keys.revoke),
    replaceKey: through(writing.runOnce, keys.replace),
    addUses: (added) => through(reading.runOnce, keys.addUses)(JSON.stringify(added)),
    listUses: through(read, keys.listUses),
    counts,
    countWindow: (id, window, amount) => countWindow({ id: toStoredName(id), window, amount }),
    check: async () => {
      await Promise.all([...all.map(({ prove }) => prove()), !writes.areProven(names) && proveWritable(undefined)]);
    },
    close,
  };
}

/** Wraps a generator function: the returned function runs the generator's statements on a connection. */
const through =
  <Values extends unknown[], Result>(run: RunTask, toSteps: (...values: Values) => SqlSteps<Result>) =>
  (...values: Values): Promise<Result> =>
    run((connection) => drive(connection, toSteps(...values)));

/**
 * Builds the function that makes a change. A transaction of PostgreSQL runs at most MOST_CHANGES changes, but fewer
 * calls of the domain's transactions (MOST_CALLS), because each call runs several statements.
 */
function buildChange(
  writes: ClientWrites,
  run: RunTask,
  runAll: BatchLoader<Change | TransactionCall, Outcome | Error>,
) {
  const change = writes.gatherWrites<Change, Outcome>(runAll, { run, most: MOST_CHANGES });
  const call = writes.gatherWrites<TransactionCall, Outcome>(runAll, { run, most: MOST_CALLS });
  return (one: Change | TransactionCall) => (isTransactionCall(one) ? call(one) : change(one));
}

/** Builds the functions that read the records of one collection, and the function that creates records. */
function buildOwn({ table, codec }: StoredTable, schema: string, read: RunTask, writes: ClientWrites) {
  const insert = writes.gatherWrites(buildInsert(schema, table), { proves: table.name });
  const reads = buildReads(read, schema, table, codec);
  const prove = () => reads.get(NO_ID[table.id.type]);
  return { table, codec, reads, prove, create: ({ record }: Create) => insert(record) };
}

function buildReads(read: RunTask, schema: string, table: Table, codec: RecordCodec): PlainReads {
  const reads = { latest: Promise.resolve() };
  const list = coalesce(read, buildListRecords(schema, table, codec), reads);
  return {
    get: coalesce(read, buildGetRecords(schema, table, codec), reads),
    list: async (query) => {
      const values = table.filters.map(({ name }) => query[name]);
      const after = query.after === undefined ? 0n : fromCursor(query.after, values)?.id;
      return after === undefined ? undefined : list({ limit: query.limit, after, values });
    },
  };
}

/** Runs a task on a new connection, and closes the connection. */
async function onConnection<Result>(connect: () => Promise<PostgresConnection>, task: Task<Result>): Promise<Result> {
  const connection = await connect();
  try {
    return await task(connection);
  } finally {
    connection.end();
  }
}
