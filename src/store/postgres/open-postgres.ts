/** The store on PostgreSQL: several machines may share it. What waits is asked, or written, in one round trip. */
import type { AnyCollection } from '../collection.ts';
import { StoreCounts } from '../counts.ts';
import { fromCursor } from '../cursors.ts';
import type { AnyDomain } from '../description.ts';
import { toCreated, toKeyed } from '../once.ts';
import { type Store, type StoreLimits, StoreUnavailable } from '../store.ts';
import { toRecord, toTable } from '../table.ts';
import type { Connection } from './connection.ts';
import { buildReadContents, buildWriteContents } from './contents.ts';
import { buildEdit } from './edit.ts';
import { type AskAll, gather } from './gathering.ts';
import { buildInsert } from './insert.ts';
import { buildInsertOnce } from './insert-once.ts';
import { buildKeys } from './keys.ts';
import { Lanes, type Task } from './lanes.ts';
import { migrate } from './migrate.ts';
import { buildCountMisfits } from './misfits.ts';
import { quote } from './names.ts';
import { buildListRecords } from './pages.ts';
import type { PostgresPlace } from './place.ts';
import { buildConnect, buildRead } from './primary.ts';
import { buildGetRecords } from './records.ts';
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
/** How long a successful write proves that the database can be written, in milliseconds. */
const PROOF_AGE = 10_000;

const READ_ONLY = new Error('the database can only be read');
const TOO_MANY = new Error('too many writes wait');

/** @throws Error when no server lets us in, or the schema is newer than this program's */
export async function openPostgres(
  place: PostgresPlace,
  domain: AnyDomain,
  { createTimeout, maxCreates, isMigrated }: StoreLimits,
  timeout = TIMEOUT,
  startTimeout = START_TIMEOUT,
): Promise<Store<AnyCollection>> {
  const table = toTable(domain);
  const connect = buildConnect(place);
  const connectToStart = () => connect({ toConnect: startTimeout, toAnswer: startTimeout });
  if (!isMigrated) {
    const migrateAll: Task<void> = (connection) => migrate(connection, place.schema, domain);
    await onConnection(connectToStart, migrateAll);
  }
  const readLimit = Math.ceil(READ * timeout);
  const connectToRead = () => connect({ toConnect: readLimit, toAnswer: readLimit });

  const schema = quote(place.schema);
  const reading = new Lanes({ connect: connectToRead, count: READERS, patience: timeout, timeout });
  const writeTimeout = Math.min(timeout, createTimeout);
  const limit = Math.ceil(WRITE * writeTimeout);
  const connectToWrite = () => connect({ toConnect: readLimit, toAnswer: limit });
  const writing = new Lanes({ connect: connectToWrite, count: 1, patience: limit, timeout: writeTimeout });
  const close = async () => {
    await Promise.all([reading.close(), writing.close()]);
  };
  try {
    await Promise.all([reading.untilOpen(startTimeout), writing.untilOpen(startTimeout)]);
  } catch (error) {
    await close();
    throw error;
  }
  const read = buildRead(reading.run, connectToRead);
  const reads = { latest: Promise.resolve() };
  const get = gather(read, buildGetRecords(schema, table), reads);
  const list = gather(read, buildListRecords(schema, table), reads);
  const counts = new StoreCounts();
  counts.pools = () => ({ read: reading.pool(), write: writing.pool() });
  const insert = gather(writing.runOnce, counting(buildInsert(schema, table)));
  const insertOnce = gather(writing.runOnce, counting(buildInsertOnce(schema, table)));
  const edit = gather(writing.runOnce, counting(buildEdit(schema, table)));
  const proveWritable = gather(writing.run, proving(buildProveWritable(schema)));
  const tally = gather(reading.run, buildTallies(schema));
  const keys = buildKeys(schema);
  const uses = buildUses(schema);
  const countMisfits = buildCountMisfits(schema, table);
  let writes = 0;
  let provenAt = Number.NEGATIVE_INFINITY;

  /** Notes what the write says of the database. */
  function proving<Question, Answer>(write: AskAll<Question, Answer>): AskAll<Question, Answer> {
    return async (connection, questions) => {
      provenAt = Number.NEGATIVE_INFINITY;
      const answers = await write(connection, questions);
      if (!answers.some((answer) => answer instanceof StoreUnavailable)) provenAt = performance.now();
      return answers;
    };
  }

  /** Of what clients write: one statement is one commit. */
  function counting<Question, Answer>(write: AskAll<Question, Answer>): AskAll<Question, Answer> {
    const proved = proving(write);
    return async (connection, questions) => {
      const began = performance.now();
      const answers = await proved(connection, questions);
      const stored = answers.filter((answer) => !(answer instanceof Error)).length;
      if (stored > 0) counts.addCommit(began, stored);
      return answers;
    };
  }

  /** One of so many at once. */
  async function write<Outcome>(run: () => Promise<Outcome | Error>): Promise<Outcome> {
    if (writes >= maxCreates) throw new StoreUnavailable(TOO_MANY, 'overloaded');
    writes++;
    const since = performance.now();
    try {
      const outcome = await run();
      if (outcome instanceof Error) throw outcome;
      counts.addWrite(since);
      return outcome;
    } finally {
      writes--;
    }
  }

  const records: AnyCollection = {
    get,
    list: async (query) => {
      const values = table.filters.map(({ name }) => query[name]);
      const after = query.after === undefined ? 0n : fromCursor(query.after, values);
      return after === undefined ? undefined : list({ limit: query.limit, after, values });
    },
    create: async (record) => toRecord(table, await write(() => insert(record)), record),
    createOnce: async (record, once) => {
      const keyed = toKeyed(table, record, once);
      return toCreated(table, record, await write(() => insertOnce({ record, keyed })));
    },
    replace: async (id, record) =>
      (await write(() => edit({ id, record }))) ? toRecord(table, id, record) : undefined,
    delete: (id) => write(() => edit({ id, record: undefined })),
  };

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
      const isProven = performance.now() - provenAt < PROOF_AGE;
      await Promise.all([get(0n), !isProven && proveWritable(undefined)]);
    },
    close,
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
