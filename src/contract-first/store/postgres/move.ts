/** Opens a schema as the source or the target of a move. */
import { MOST_MOVED, type MovedTable, type MovingSide, type Row, sizeOf } from '../contents.ts';
import { type Field, toJsonText } from '../tables/table.ts';
import type { PostgresConnection } from './connection.ts';
import { lockOf, quote, toArraySql, toDialect } from './dialect.ts';
import { buildConnect } from './primary.ts';
import { localSettingsSql } from './session.ts';
import type { PostgresSettings } from './settings.ts';

/** How many records one statement reads, to limit memory. */
const CHUNK = 1000;
/**
 * Time limits of a move, in milliseconds: MOVE_TIMEOUT for connecting and for each statement before the copy,
 * LOCK_TIMEOUT for getting the locks of writers.
 */
const MOVE_TIMEOUT = 10_000;
const LOCK_TIMEOUT = 5000;

export async function openPostgresToMove(settings: PostgresSettings): Promise<MovingSide> {
  const schema = quote(settings.schema);
  const connection = await buildConnect(settings)({ toConnect: MOVE_TIMEOUT, toAnswer: MOVE_TIMEOUT });
  const query = (sql: string, values?: unknown[]) => connection.query(sql, values);
  const sequenceOf = ({ name, order }: MovedTable) => `pg_get_serial_sequence('${name}', '${order}')::regclass`;
  const set = (name: string, value: number) => `set_config('${name}', '${value}', true)`;
  return {
    begin: async (isTarget) => {
      await query(`BEGIN ISOLATION LEVEL ${isTarget ? 'READ COMMITTED' : 'REPEATABLE READ READ ONLY'}`);
      await query(`SELECT ${localSettingsSql(schema)}, ${set('lock_timeout', LOCK_TIMEOUT)}`);
      if (isTarget) {
        await query('LOCK TABLE api_keys IN SHARE ROW EXCLUSIVE MODE');
        // The lock stops the writers of records. Every writer locks its table first and then waits for this lock, so
        // locking the tables here as well could cause a deadlock.
        await query(`SELECT pg_advisory_xact_lock(${lockOf(schema)})`);
      }
      // During the copy, the timeouts are off, because the copy may take long and also waits for the other database.
      await query(`SELECT ${set('statement_timeout', 0)}, ${set('idle_in_transaction_session_timeout', 0)}`);
    },
    ...toDialect(schema),
    query,
    read: (table) => readRows(connection, table),
    insert: (table, rows) => {
      const columns = table.columns.map((_, index) => rows.map((row) => row[index]));
      return query(toInsert(table), columns);
    },
    readLast: async (table) => {
      const [row] = await query(`SELECT coalesce(pg_sequence_last_value(${sequenceOf(table)}), 0)`);
      return row?.[0] as string;
    },
    raiseLast: async (table, last) => {
      const { name, order } = table;
      const sequence = sequenceOf(table);
      // Rows that are inserted with explicit numbers do not advance the sequence, so `setval` advances it. A rollback
      // does not undo `setval`.
      await query(
        `SELECT setval(${sequence}, last) FROM (SELECT greatest($1::bigint, max(${order})) AS last FROM ${name}) AS known
          WHERE last > coalesce(pg_sequence_last_value(${sequence}), 0)`,
        [last],
      );
      // Updates the statistics of the table now. Otherwise, PostgreSQL would update them only some time after the
      // servers have begun to run queries.
      await query(`ANALYZE ${name}`);
    },
    commit: () => query('COMMIT'),
    end: () => connection.end(),
  };
}

/** Reads the rows in chunks. The number of rows in a chunk depends on the size of the previous chunk's rows. */
async function* readRows(connection: PostgresConnection, { name, columns, order }: MovedTable): AsyncGenerator<Row[]> {
  const texts = columns.map(({ column, type, isSeconds }) => {
    if (isSeconds) return `CAST(extract(epoch FROM ${column}) AS bigint)`;
    return type === 'boolean' ? `CAST(${column} AS integer)` : column;
  });
  // Writes a number as JavaScript's JSON does. For example, PostgreSQL writes 1e-07, and JavaScript 1e-7.
  const toCommon = (value: string | null, index: number) =>
    columns[index]?.type === 'number' && value !== null ? toJsonText(Number(value)) : value;
  await connection.query(`DECLARE moved NO SCROLL CURSOR FOR SELECT ${texts} FROM ${name} ORDER BY ${order}`);
  let count = 10;
  for (;;) {
    const rows = await connection.query(`FETCH ${count} FROM moved`);
    if (rows.length === 0) break;
    yield rows.map((row) => row.map(toCommon));
    count = Math.max(1, Math.min(CHUNK, Math.floor((rows.length * MOST_MOVED) / sizeOf(rows))));
  }
  await connection.query('CLOSE moved');
}

function toInsert({ name, columns }: MovedTable): string {
  const names = columns.map(({ column }) => column);
  const values = columns.map(({ column, isSeconds }) => (isSeconds ? `to_timestamp(${column})` : column));
  const arrays = columns.map((column, index) => toArraySql(column as Field, index + 1));
  return `INSERT INTO ${name} (${names}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM unnest(${arrays}) AS moved (${names})`;
}
