/** Opens connections to PostgreSQL, and converts its outages to StoreUnavailable. */
import { Socket } from 'node:net';
import pg from 'pg';
import type { Row } from '../contents.ts';
import { StoreUnavailable } from '../store.ts';
import { quote } from './dialect.ts';
import { PreparedStatements, sessionSetupSql } from './session.ts';
import type { PostgresSettings, ServerAddress } from './settings.ts';

export interface PostgresConnection {
  /**
   * Runs a statement and returns its rows, with all values as texts. Without `values`, `sql` may contain several
   * statements; the rows of the last statement are returned. The connection stays open if a statement fails because of
   * an error in the statement.
   * @throws StoreUnavailable if the state of the server made PostgreSQL reject the statement; then the statement
   * changed nothing
   */
  query(sql: string, values?: unknown[]): Promise<Row[]>;
  readonly isOpen: boolean;
  /**
   * The last time, as in `performance.now()`, when the task on this connection may begin another statement. Soon after
   * this time, the connection is closed.
   */
  until?: number;
  /** Whether the server has reported that it is read-only now (`default_transaction_read_only`). */
  readonly isReadOnly: boolean;
  /** A text that identifies the server until it restarts. */
  readonly server: string;
  /** Resolves when the connection is closed or lost. */
  readonly ended: Promise<void>;
  /**
   * Closes the connection immediately. A statement that is running fails with this `error`; whether the statement took
   * effect is unknown.
   */
  end(error?: Error): void;
}

/** Makes pg return every value as text. */
const AS_TEXT = { getTypeParser: () => (text: string) => text };

/**
 * Matches SQLSTATEs that are caused by the state of the server rather than by the statement: lack of resources,
 * operator intervention, system errors, conflicts between transactions, locks, and a read-only server.
 */
const OUTAGE_CODES = /^(53|57|58|40001|40P01|55P03|25006)/;
/**
 * The SQLSTATE of a read-only server. The connection is closed after this error, because a new connection may reach the
 * primary.
 */
const READ_ONLY = '25006';
/**
 * Matches the SQLSTATEs that mean that the connection was lost, and the empty text for an error without a SQLSTATE.
 * Whether the statement took effect is then unknown.
 */
const LOSSES = /^(|08.*|25P04|57P.*|XX.*)$/;

/** The reason why a start fails if the server is behind a PgBouncer that ignores `statement_timeout`. */
const NO_TIMEOUT = "behind a pooler, its role needs a limit: ALTER ROLE … SET statement_timeout = '600ms'";

/** Timeouts, in milliseconds. */
export interface ConnectionOptions {
  toConnect: number;
  /** How long each statement may take. PostgreSQL cancels it after this time. */
  toAnswer: number;
  /** Whether the connection runs the same few small statements again and again. If so, its statements are prepared. */
  isForChanges?: boolean;
}

/**
 * Opens a connection to the primary. @throws Error if the server does not answer in time, or is read-only and so not
 * the primary
 */
export async function connectTo(
  { host, port }: ServerAddress,
  { user, password, database, schema, sslNegotiation, isPrepared, applicationName }: PostgresSettings,
  ssl: pg.ClientConfig['ssl'],
  { toConnect, toAnswer, isForChanges = false }: ConnectionOptions,
): Promise<PostgresConnection> {
  const socket = new Socket();
  const client = new pg.Client({
    ...{ host, port, user, password, database, ssl, statement_timeout: toAnswer },
    // Without this value, pg would use the environment variable PGSSLNEGOTIATION.
    sslnegotiation: sslNegotiation,
    stream: () => socket,
    types: AS_TEXT,
    keepAlive: true,
    // The operating system would otherwise begin to test an idle connection only after two hours.
    keepAliveInitialDelayMillis: 5000,
    application_name: applicationName,
  });
  const prepared = new PreparedStatements(client.connection);
  const connection = toConnection(client, socket, prepared);
  const late = setTimeout(() => connection.end(new Error('it does not answer')), toConnect);
  let server: string;
  try {
    await client.connect();
    const { processID } = client as unknown as { processID: number };
    const [[isReadOnly, timeout, started, isDirect, , lacking]] = (await connection.query(
      sessionSetupSql(quote(schema)),
      [processID],
    )) as [[string, string, string, string, string, string | null]];
    server = started;
    if (isReadOnly !== 'off') throw new Error('it can only be read');
    if (timeout === '0') throw new Error(NO_TIMEOUT);
    if (lacking !== null) throw new Error(`behind a pooler, its role needs other settings: ${lacking}`);
    prepared.isOn = isForChanges && (isPrepared ?? isDirect === 't');
  } catch (error) {
    connection.end(error as Error);
    // If all addresses of a host name fail, the error is an AggregateError with an empty message: then the code is
    // used.
    const { message, code } = error as { message: string; code?: string };
    throw new Error(`${host}:${port}: ${[message, code].find(Boolean)}`, { cause: error });
  } finally {
    clearTimeout(late);
  }
  return Object.assign(connection, { server });
}

/** The message that PostgreSQL sends to report the new value of a setting. */
interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}

/**
 * The SQLSTATE and the routine of the error for a stale prepared statement: a migration has changed the types of its
 * columns.
 */
const [UNSUPPORTED, STALE] = ['0A000', 'RevalidateCachedQuery'];

function toConnection(
  client: pg.Client,
  socket: Socket,
  prepared: PreparedStatements,
): Omit<PostgresConnection, 'server'> {
  let isOpen = true;
  let isReadOnly = false;
  client.connection.on('parameterStatus', ({ parameterName: name, parameterValue: value }: ParameterStatus) => {
    if (name === 'default_transaction_read_only') isReadOnly = value === 'on';
  });
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isOpen = false;
      resolve();
    };
    client.on('error', end);
    socket.on('close', end);
  });
  const end = (error?: Error) => {
    isOpen = false;
    socket.destroy(error);
  };
  async function query(text: string, values?: unknown[]): Promise<Row[]> {
    const name = values && prepared.nameOf(text);
    try {
      const results = [await client.query<Row>({ name, text, values: values as unknown[], rowMode: 'array' })];
      return (results.flat().at(-1) as pg.QueryArrayResult<Row>).rows;
    } catch (error) {
      const { code = '', routine } = error instanceof pg.DatabaseError ? error : {};
      if (code === UNSUPPORTED && routine === STALE) {
        prepared.forgetAll();
        // Outside a transaction, the statement is simply run again. In a transaction, the error is thrown, and the
        // caller repeats the whole transaction.
        if (client.getTransactionStatus() === 'I') return query(text, values);
      }
      if (LOSSES.test(code) || code === READ_ONLY) end(error as Error);
      throw OUTAGE_CODES.test(code) && !LOSSES.test(code) ? new StoreUnavailable(error) : error;
    }
  }
  return {
    query,
    get isOpen() {
      return isOpen;
    },
    get isReadOnly() {
      return isReadOnly;
    },
    ended,
    end,
  };
}
