/** The store on PostgreSQL: several machines may share it. What waits is asked, or written, in one round trip. */
import type { AnyCollection } from '../collection.ts';
import { StoreCounts } from '../counts.ts';
import { fromCursor } from '../cursors.ts';
import type { AnyDomain } from '../description.ts';
import { toCreated, toKeyed } from '../once.ts';
import { type Store, type StoreLimits, StoreUnavailable } from '../store.ts';
import { type Table, toRecord, toTable } from '../table.ts';
import { ClientWrites } from './client-writes.ts';
import type { Connection } from './connection.ts';
import { buildReadContents, buildWriteContents } from './contents.ts';
import { buildEdit } from './edit.ts';
import { type AskAll, gather } from './gathering.ts';
import { buildInsert } from './insert.ts';
import { buildInsertOnce } from './insert-once.ts';
import { buildKeys } from './keys.ts';
import { Lanes, type Run, type Task } from './lanes.ts';
import { migrate } from './migrate.ts';
import { buildCountMisfits } from './misfits.ts';
import { quote } from './names.ts';
import { buildListRecords } from './pages.ts';
import { buildConnect, buildRead } from './primary.ts';
import { buildGetRecords } from './records.ts';
import type { PostgresSettings } from './settings.ts';
import { buildTallies } from './tallies.ts';
import { buildUses } from './uses.ts';

/** How many connections read, beside the one that writes. More do not help: each takes all that waits. */
const READERS = 3;
/** How long a call may take, in milliseconds: a client is answered within two seconds. */
const TIMEOUT = 1700;
/** And each step of the start, while nobody waits for an answer: the database may be starting too, on a busy machine. */
const START_TIMEOUT = 10_000;
/** After this part of it PostgreSQL itself gives up a read, and we a server that does not let us in. */
const READ = 0.6;
/** And a write, which waits no longer than that to be begun: so it is known that it was not done. */
const WRITE = 0.4;

const READ_ONLY = new Error('the database can only be read');

/** @throws Error when no server lets us in, or the schema is newer than this program's */
export async function openPostgres(
  settings: PostgresSettings,
  domain: AnyDomain,
  limits: StoreLimits,
  timeout = TIMEOUT,
  startTimeout = START_TIMEOUT,
): Promise<Store<AnyCollection>> {
  const connect = buildConnect(settings);
  const connectToStart = () => connect({ toConnect: startTimeout, toAnswer: startTimeout });
  if (!limits.isMigrated) {
    const migrateAll: Task<void> = (connection) => migrate(connection, settings.schema, domain);
    await onConnection(connectToStart, migrateAll);
  }
  const readLimit = Math.ceil(READ * timeout);
  const connectToRead = () => connect({ toConnect: readLimit, toAnswer: readLimit });
  const reading = new Lanes({ connect: connectToRead, count: READERS, patience: timeout, timeout });
  const writeTimeout = Math.min(timeout, limits.createTimeout);
  const writeLimit = Math.ceil(WRITE * writeTimeout);
  const connectToWrite = () => connect({ toConnect: readLimit, toAnswer: writeLimit });
  const writing = new Lanes({ connect: connectToWrite, count: 1, patience: writeLimit, timeout: writeTimeout });
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
  return buildStore(store, toTable(domain), limits.maxCreates);
}

interface Opened {
  reading: Lanes;
  writing: Lanes;
  connectToStart: () => Promise<Connection>;
  connectToRead: () => Promise<Connection>;
  schema: string;
  close: () => Promise<void>;
}

function buildStore(opened: Opened, table: Table, maxCreates: number): Store<AnyCollection> {
  const { reading, writing, connectToStart, connectToRead, schema, close } = opened;
  const read = buildRead(reading.run, connectToRead);
  const counts = new StoreCounts();
  counts.pools = () => ({ read: reading.pool(), write: writing.pool() });
  const writes = new ClientWrites(writing, maxCreates, counts);
  const records = buildCollection(read, writes, schema, table);
  const proveWritable = gather(writing.run, writes.proving(buildProveWritable(schema)));
  const tally = gather(reading.run, buildTallies(schema));
  const keys = buildKeys(schema);
  const uses = buildUses(schema);
  const countMisfits = buildCountMisfits(schema, table);
  return {
    records,
    countMisfits: (contract, fits) =>
      onConnection(connectToStart, (connection) => countMisfits(connection, contract, fits)),
    readContents: buildReadContents(connectToRead, schema, table),
    writeContents: buildWriteContents(connectToRead, schema, table),
    createKey: (key) => writing.runOnce((connection) => keys.insert(connection, key)),
    listKeys: () => read(keys.list),
    readKeys: async (since) => {
      const changes = await read((connection) => keys.readChanges(connection, since));
      if (changes === undefined) throw new StoreUnavailable(READ_ONLY);
      return changes;
    },
    revokeKey: (id, revokedAt) => writing.runOnce((connection) => keys.revoke(connection, id, revokedAt)),
    replaceKey: (id, key, expiresAt) => writing.runOnce((connection) => keys.replace(connection, id, key, expiresAt)),
    addUses: (added) => reading.runOnce((connection) => uses.add(connection, added)),
    listUses: () => read(uses.list),
    counts,
    tally: (id, window, amount) => tally({ id, window, amount }),
    check: async () => {
      const { isProven } = writes;
      await Promise.all([records.get(0n), !isProven && proveWritable(undefined)]);
    },
    close,
  };
}

function buildCollection(read: Run, writes: ClientWrites, schema: string, table: Table): AnyCollection {
  const reads = { latest: Promise.resolve() };
  const list = gather(read, buildListRecords(schema, table), reads);
  const insert = writes.gatherWrites(buildInsert(schema, table));
  const insertOnce = writes.gatherWrites(buildInsertOnce(schema, table));
  const edit = writes.gatherWrites(buildEdit(schema, table));
  return {
    get: gather(read, buildGetRecords(schema, table), reads),
    list: async (query) => {
      const values = table.filters.map(({ name }) => query[name]);
      const after = query.after === undefined ? 0n : fromCursor(query.after, values);
      return after === undefined ? undefined : list({ limit: query.limit, after, values });
    },
    create: async (record) => toRecord(table, await insert(record), record),
    createOnce: async (record, once) => {
      const keyed = toKeyed(table, record, once);
      return toCreated(table, record, await insertOnce({ record, keyed }));
    },
    replace: async (id, record) => ((await edit({ id, record })) ? toRecord(table, id, record) : undefined),
    delete: (id) => edit({ id, record: undefined }),
  };
}

/** Runs the task on a connection of its own. */
async function onConnection<Result>(connect: () => Promise<Connection>, task: Task<Result>): Promise<Result> {
  const connection = await connect();
  try {
    return await task(connection);
  } finally {
    connection.end();
  }
}

/** Writes a row without changing it, which may be done twice. */
function buildProveWritable(schema: string): AskAll<undefined, unknown> {
  const sql = `UPDATE ${schema}.passed_check SET contract = contract`;
  return (connection) => connection.query(sql);
}
