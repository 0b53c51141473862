/** All that a schema holds, read or written in one transaction, on a connection of its own. */
import { setTimeout as wait } from 'node:timers/promises';
import { JsonText } from '../../json/json-text.ts';
import type { Fields } from '../collection.ts';
import { type OutageKind, type Part, StoreError, StoreUnavailable } from '../store.ts';
import type { Table } from '../table.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import type { Connection } from './connection.ts';
import { buildKeys } from './keys.ts';
import { toJsonSql } from './record-json.ts';

/** How many records are read at once: however many there are, they need little memory. */
const CHUNK = 5000;
/** How long to wait for those who write, in milliseconds. */
const LOCK_TIMEOUT = 5000;
/** How long to try to connect, and the pause between two tries, in milliseconds. */
const PATIENCE = 5000;
const PAUSE = 100;

type Connect = () => Promise<Connection>;
type RecordRow = [id: string, text: string];

export function buildReadContents(connect: Connect, schema: string, table: Table) {
  const keys = buildKeys(schema);
  const records = `${schema}.${table.name}`;
  const select = `SELECT id, ${toJsonSql(table)} FROM ${records} WHERE id > $1 ORDER BY id LIMIT ${CHUNK}`;
  const selectLastId = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, 'id')::regclass), 0)";

  return async function* readContents(): AsyncGenerator<Part<JsonText<Fields>>> {
    const connection = await open(connect);
    try {
      await begin(connection, 'ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const [[lastId]] = (await connection.query(selectLastId, [records])) as [[string]];
      yield { lastId: BigInt(lastId), keys: await keys.list(connection), records: [] };
      const read = async (after: string) => (await connection.query(select, [after])) as RecordRow[];
      for (let rows = await read('0'); rows.length > 0; rows = await read((rows.at(-1) as RecordRow)[0])) {
        yield { lastId: 0n, keys: [], records: rows.map(([, text]) => JsonText.of<Fields>(text)) };
      }
    } catch (error) {
      throw toStoreError(error, connection);
    } finally {
      connection.end();
    }
  };
}

export function buildWriteContents(connect: Connect, schema: string, table: Table) {
  const fill = buildFill(schema, table);
  return async (parts: AsyncIterable<Part<Fields>>, contract: string): Promise<void> => {
    const connection = await open(connect);
    let kind: OutageKind = 'unavailable';
    try {
      await begin(connection, 'ISOLATION LEVEL READ COMMITTED');
      await fill(connection, parts, contract);
      kind = 'outcome_unknown';
      await connection.query('COMMIT');
    } catch (error) {
      throw toStoreError(error, connection, kind);
    } finally {
      connection.end();
    }
  };
}

function buildFill(schema: string, table: Table) {
  const { lock, selectHeld, updatePassed, raiseLastId, records } = toFillSql(schema, table);
  const write = buildWritePart(schema, table);

  return async (connection: Connection, parts: AsyncIterable<Part<Fields>>, contract: string): Promise<void> => {
    await connection.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT}`);
    await connection.query(lock);
    const held = (await connection.query(selectHeld)).flat();
    if (held.length > 0) throw new StoreError(`The database has ${held.join(' and ')} already, and must be empty.`);
    // Of records that are gone: their ids may be given to others now.
    await connection.query(`DELETE FROM ${schema}.idempotency_keys`);
    let lastId = 0n;
    let writing = Promise.resolve();
    for await (const part of parts) {
      lastId = part.lastId || lastId;
      await writing;
      // The next part is read meanwhile.
      writing = write(connection, part);
      writing.catch(() => {});
    }
    await writing;
    await connection.query(updatePassed, [contract]);
    await connection.query(raiseLastId, [records, lastId]);
    // Rather than some time after servers have begun to ask.
    await connection.query(`ANALYZE ${records}`);
  };
}

function toFillSql(schema: string, { name }: Table) {
  const records = `${schema}.${name}`;
  return {
    records,
    // Whoever writes records has locked their table already, and waits for the schema's lock.
    lock: `LOCK TABLE ${schema}.api_keys IN SHARE ROW EXCLUSIVE MODE;
      SELECT pg_advisory_xact_lock('${schema.replaceAll("'", "''")}'::regnamespace::oid::bigint)`,
    selectHeld: `
      SELECT '${name}' WHERE EXISTS (SELECT 1 FROM ${records})
      UNION ALL SELECT 'keys' WHERE EXISTS (SELECT 1 FROM ${schema}.api_keys)`,
    updatePassed: `UPDATE ${schema}.passed_check SET contract = $1`,
    // The sequence knows nothing of ids that are given to it, and keeps its value when the transaction fails.
    raiseLastId: `
      SELECT setval(sequence, last)
      FROM pg_get_serial_sequence($1, 'id') AS sequence,
        (SELECT greatest($2::bigint, max(id)) AS last FROM ${records}) AS known
      WHERE last > coalesce(pg_sequence_last_value(sequence::regclass), 0)`,
  };
}

function buildWritePart(schema: string, { name, fields }: Table) {
  const keys = buildKeys(schema);
  const { columns, arrays } = toArraysSql(fields);
  const insert = `INSERT INTO ${schema}.${name} (${columns}) SELECT * FROM unnest(${arrays})`;
  return async (connection: Connection, part: Part<Fields>): Promise<void> => {
    for (const key of part.keys) await keys.insert(connection, key);
    await connection.query(insert, toArrays(fields, part.records));
  };
}

/** Tries again for a while: nobody waits for an answer here, and a busy machine may be slow to let a connection in. */
async function open(connect: Connect): Promise<Connection> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (performance.now() > deadline) throw new StoreUnavailable(error);
      await wait(PAUSE);
    }
  }
}

/** It may take as long as it needs, and wait for what it reads or writes elsewhere. */
async function begin(connection: Connection, mode: string): Promise<void> {
  await connection.query(`BEGIN ${mode}`);
  await connection.query('SET LOCAL statement_timeout = 0');
  await connection.query('SET LOCAL idle_in_transaction_session_timeout = 0');
}

/** @returns StoreUnavailable where the connection is lost */
function toStoreError(error: unknown, { isOpen }: Connection, kind: OutageKind = 'unavailable'): unknown {
  return isOpen || error instanceof StoreUnavailable ? error : new StoreUnavailable(error, kind);
}
