/** Opens connections to PostgreSQL, and maps its outages to StoreUnavailable. */
import { Socket } from 'node:net';
import pg from 'pg';
import type { Row } from '../contents.ts';
import { StoreUnavailable } from '../store.ts';
import { quote } from './dialect.ts';
import { PreparedStatements, sessionSetupSql } from './session.ts';
import type { PostgresSettings, ServerAddress } from './settings.ts';

export interface PostgresConnection {
  /**
   * Runs one statement, or several without values, and returns the rows of the last, as texts. An error of a statement leaves the
   * connection open.
   * @throws StoreUnavailable if PostgreSQL rejected the statement for now, and did nothing
   */
  query(sql: string, values?: unknown[]): Promise<Row[]>;
  readonly isOpen: boolean;
  /**
   * The latest time for the task on the connection to begin another step, by performance.now(). Soon after this time the task is given up.
   */
  until?: number;
  /** Whether the server was read-only when it last answered. */
  readonly isReadOnly: boolean;
  /** Identifies the server until it restarts. */
  readonly server: string;
  /** Resolves when the connection is no longer open. */
  readonly ended: Promise<void>;
  /** Closes the connection at once. A running statement fails with this error, and its outcome is unknown. */
  end(error?: Error): void;
}

/** Returns every value as text. */
const AS_TEXT = { getTypeParser: () => (text: string) => text };

/**
 * Matches SQLSTATEs that concern the server and not the statement: resources, operator intervention, system errors, conflicts, locks,
 * read-only.
 */
const OUTAGE_CODES = /^(53|57|58|40001|40P01|55P03|25006)/;
/** The SQLSTATE of a read-only server. The next connection may find the primary. */
const READ_ONLY = '25006';
/** Matches the codes of a lost connection. The outcome of the statement is then unknown. */
const LOSSES = /^(|08.*|25P04|57P.*|XX.*)$/;

/** PgBouncer drops the connection's `statement_timeout` if it is set to ignore it. */
const NO_TIMEOUT = "behind a pooler, its role needs a limit: ALTER ROLE … SET statement_timeout = '600ms'";

/** Timeouts, in milliseconds. */
export interface ConnectionOptions {
  toConnect: number;
  /** The limit of each statement, which PostgreSQL enforces. */
  toAnswer: number;
  /** Whether the connection runs the same small statements again and again. If so, the statements are prepared. */
  isForChanges?: boolean;
}

/** Opens a connection to the primary. @throws Error if the server does not answer, or is read-only and so not the primary */
export async function connectTo(
  { host, port }: ServerAddress,
  { user, password, database, schema, sslNegotiation, isPrepared, applicationName }: PostgresSettings,
  ssl: pg.ClientConfig['ssl'],
  { toConnect, toAnswer, isForChanges = false }: ConnectionOptions,
): Promise<PostgresConnection> {
  const socket = new Socket();
  const client = new pg.Client({
    ...{ host, port, user, password, database, ssl, statement_timeout: toAnswer },
    // Without this value, pg would read the variable PGSSLNEGOTIATION.
    sslnegotiation: sslNegotiation,
    stream: () => socket,
    types: AS_TEXT,
    keepAlive: true,
    // The default of the operating system is two hours.
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
    // If a host name has several addresses, the error is an AggregateError without a message.
    const { message, code } = error as { message: string; code?: string };
    throw new Error(`${host}:${port}: ${[message, code].find(Boolean)}`, { cause: error });
  } finally {
    clearTimeout(late);
  }
  return Object.assign(connection, { server });
}

/** A setting that PostgreSQL reports when it changes. */
interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}

/** The SQLSTATE and the routine in the error of a prepared statement after a migration changed the types of its columns. */
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
        // The owner of a transaction runs the whole transaction again.
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
