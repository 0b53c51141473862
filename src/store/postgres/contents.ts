/** Reads or writes the whole contents in one transaction, on its own connection, and counts records that do not fit a contract. */
import { setTimeout as wait } from 'node:timers/promises';
import { JsonText } from '../../json/json-text.ts';
import type { Fields } from '../collection.ts';
import { toPlainShape } from '../shape.ts';
import { type Fits, type OutageKind, type Part, StoreError, StoreUnavailable } from '../store.ts';
import type { Table } from '../table.ts';
import { toKeptFields } from '../values.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import type { Connection } from './connection.ts';
import { drive } from './drive.ts';
import { buildKeys } from './keys.ts';
import { lockOf } from './names.ts';
import { toJsonSql } from './record-json.ts';

/** How many records are read at once, to limit memory. */
const CHUNK = 5000;
/** How long to wait for locks of writers, in milliseconds. */
const LOCK_TIMEOUT = 5000;
/** How long to try to connect, and the pause between two tries, in milliseconds. */
const CONNECT_TIMEOUT = 5000;
const PAUSE = 100;

type Connect = () => Promise<Connection>;

export function buildReadContents(connect: Connect, schema: string, tables: readonly Table[]) {
  const keys = buildKeys(schema);
  const selectLastId = 'SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass), 0)';

  async function readLastIds(connection: Connection): Promise<Record<string, bigint>> {
    const lastIds: Record<string, bigint> = {};
    for (const { collection, name, sequence } of tables) {
      const rows = await connection.query(selectLastId, [`${schema}.${name}`, sequence]);
      lastIds[collection] = BigInt(rows[0]?.[0] as string);
    }
    return lastIds;
  }

  return async function* readContents(): AsyncGenerator<Part<JsonText<Fields>>> {
    const connection = await open(connect);
    try {
      await begin(connection, 'ISOLATION LEVEL REPEATABLE READ READ ONLY');
      yield { lastIds: await readLastIds(connection), keys: await drive(connection, keys.list()) };
      for (const table of tables) {
        const source = toPlainShape(table);
        for await (const rows of readChunks(connection, schema, table)) {
          yield {
            collection: table.collection,
            records: rows.map((text) => JsonText.of<Fields>(text as string, source)),
          };
        }
      }
    } catch (error) {
      throw toStoreError(error, connection);
    } finally {
      connection.end();
    }
  };
}

/** The records as JSON; null for a record without a required field. */
async function* readChunks(connection: Connection, schema: string, table: Table): AsyncGenerator<(string | null)[]> {
  const { name, sequence } = table;
  const select = `
    SELECT ${sequence}, ${toJsonSql(table)} FROM ${schema}.${name} WHERE ${sequence} > $1 ORDER BY ${sequence} LIMIT ${CHUNK}`;
  for (let last: string | null | undefined = '0'; ; ) {
    const rows: (string | null)[][] = await connection.query(select, [last]);
    last = rows.at(-1)?.[0];
    if (last === undefined) return;
    yield rows.map(([, text]) => text ?? null);
  }
}

/** Counts the stored records that do not fit a contract. Once all fit, they are not read again for this contract. */
export function buildCountInvalidRecords(schema: string, tables: readonly Table[]) {
  const selectPassed = `SELECT 1 FROM ${schema}.passed_check WHERE contract = $1`;
  const updatePassed = `UPDATE ${schema}.passed_check SET contract = $1`;

  return async (connection: Connection, contract: string, fits: Fits): Promise<number> => {
    if ((await connection.query(selectPassed, [contract])).length > 0) return 0;
    let count = 0;
    for (const table of tables) {
      for await (const texts of readChunks(connection, schema, table)) {
        for (const text of texts) if (!fits(text ?? 'null', table.collection)) count++;
      }
    }
    if (count === 0) await connection.query(updatePassed, [contract]);
    return count;
  };
}

export function buildWriteContents(connect: Connect, schema: string, tables: readonly Table[]) {
  const fill = buildFill(schema, tables);
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

function buildFill(schema: string, tables: readonly Table[]) {
  const { lock, selectHeld, updatePassed, raiseLastId } = toFillSql(schema, tables);
  const write = buildWritePart(schema, tables);

  return async (connection: Connection, parts: AsyncIterable<Part<Fields>>, contract: string): Promise<void> => {
    await connection.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT}`);
    await connection.query(`LOCK TABLE ${schema}.api_keys IN SHARE ROW EXCLUSIVE MODE`);
    await connection.query(lock);
    const held = (await connection.query(selectHeld)).flat();
    if (held.length > 0) throw new StoreError(`The database has ${held.join(' and ')} already, and must be empty.`);
    // The keys belong to deleted records, whose ids may now be used again.
    await connection.query(`DELETE FROM ${schema}.idempotency_keys`);
    let lastIds: Part<Fields>['lastIds'] = {};
    let writing = Promise.resolve();
    for await (const part of parts) {
      lastIds = part.lastIds ?? lastIds;
      await writing;
      // Not awaited here, so that the next part is read meanwhile.
      writing = write(connection, part);
      writing.catch(() => {});
    }
    await writing;
    await connection.query(updatePassed, [contract]);
    for (const { collection, name, sequence } of tables) {
      const records = `${schema}.${name}`;
      await connection.query(raiseLastId(records, sequence), [records, sequence, lastIds[collection] ?? 0n]);
      // At once, not some time after servers have begun to query.
      await connection.query(`ANALYZE ${records}`);
    }
  };
}

function toFillSql(schema: string, tables: readonly Table[]) {
  const held = [...tables.map(({ name }) => [name, name]), ['keys', 'api_keys']];
  return {
    // Writers of records lock their table first, and then wait for this lock.
    lock: `SELECT pg_advisory_xact_lock(${lockOf(schema)})`,
    selectHeld: held
      .map(([word, name]) => `SELECT '${word}' WHERE EXISTS (SELECT 1 FROM ${schema}.${name})`)
      .join(' UNION ALL '),
    updatePassed: `UPDATE ${schema}.passed_check SET contract = $1`,
    // A sequence does not notice ids that are inserted explicitly, and is not rolled back.
    raiseLastId: (records: string, column: string) => `
      SELECT setval(sequence, last)
      FROM pg_get_serial_sequence($1, $2) AS sequence,
        (SELECT greatest($3::bigint, max(${column})) AS last FROM ${records}) AS known
      WHERE last > coalesce(pg_sequence_last_value(sequence::regclass), 0)`,
  };
}

function buildWritePart(schema: string, tables: readonly Table[]) {
  const keys = buildKeys(schema);
  const inserts = new Map(
    tables.map((table) => {
      const { collection, name, fields } = table;
      const { columns, arrays } = toArraysSql(fields);
      return [collection, { table, sql: `INSERT INTO ${schema}.${name} (${columns}) SELECT * FROM unnest(${arrays})` }];
    }),
  );
  return async (connection: Connection, part: Part<Fields>): Promise<void> => {
    for (const key of part.keys ?? []) await drive(connection, keys.insert(key));
    const insert = inserts.get(part.collection ?? '');
    const records = part.records ?? [];
    if (!insert) return;
    const { table, sql } = insert;
    await connection.query(
      sql,
      toArrays(
        table.fields,
        records.map((record) => toKeptFields(table, record)),
      ),
    );
  };
}

/** Retries for a while: no client waits here, and a busy machine may be slow to accept a connection. */
async function open(connect: Connect): Promise<Connection> {
  const deadline = performance.now() + CONNECT_TIMEOUT;
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (performance.now() > deadline) throw new StoreUnavailable(error);
      await wait(PAUSE);
    }
  }
}

/** Begins a transaction without timeouts: it may take long, and wait for the file that it reads or writes. */
async function begin(connection: Connection, mode: string): Promise<void> {
  await connection.query(`BEGIN ${mode}`);
  await connection.query('SET LOCAL statement_timeout = 0');
  await connection.query('SET LOCAL idle_in_transaction_session_timeout = 0');
}

/** @returns StoreUnavailable if the connection is lost */
function toStoreError(error: unknown, { isOpen }: Connection, kind: OutageKind = 'unavailable'): unknown {
  return isOpen || error instanceof StoreUnavailable ? error : new StoreUnavailable(error, kind);
}
