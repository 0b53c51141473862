/**
 * The settings of a session on which our statements and the texts of values depend, and the statements that a session
 * has prepared.
 */
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { toSqlLiteral } from '../../json/literals.ts';

/**
 * Settings without which statements could fail or lose data. Behind a pooler, each transaction may run in another
 * session, so the role must have these settings.
 */
const NEEDED = {
  // With `off`, NULL in an array would be the text `NULL`.
  array_nulls: 'on',
  default_transaction_isolation: 'read committed',
  exit_on_error: 'off',
  // With a lower value, PostgreSQL would print numbers with fewer digits than it stores.
  extra_float_digits: '1',
  // With `on`, PostgreSQL would put quotes around the names of types and columns, so that the checks of tables would
  // not recognise these names.
  quote_all_identifiers: 'off',
  // The value `replica` would disable triggers and foreign keys.
  session_replication_role: 'origin',
  standard_conforming_strings: 'on',
};

/** Timeouts of the server that are switched off, because the engine uses its own timeouts. */
const UNLIMITED = { idle_in_transaction_session_timeout: '0', idle_session_timeout: '0', lock_timeout: '0' };

/** Settings that influence the SQL that teams write. The engine sets them to the values of most servers. */
const OF_TEAMS = {
  ...{ DateStyle: 'ISO, MDY', IntervalStyle: 'postgres', TimeZone: 'UTC', bytea_output: 'hex', xmlbinary: 'base64' },
  ...{ lc_monetary: 'C', lc_numeric: 'C', lc_time: 'C', xmloption: 'content', backslash_quote: 'safe_encoding' },
  ...{ transform_null_equals: 'off', gin_fuzzy_search_limit: '0' },
};

/**
 * How long the server keeps the lock for a process that has disappeared in the middle of a transaction, in
 * milliseconds.
 */
const IDLE_TIMEOUT = 2000;

/**
 * Returns the SQL of one statement that reads the state of a new session, and makes the settings that our statements
 * need. `$1` is the process id that the server reported when the connection was opened. Behind a pooler, this id does
 * not belong to a process of the server. The statement then makes no settings, and its last column names the settings
 * that the role lacks.
 */
export function sessionSetupSql(schema: string): string {
  const own = Object.entries({ ...UNLIMITED, search_path: schema });
  const rows = [...Object.entries(NEEDED), ...own].map(
    ([name, value]) => `(${toSqlLiteral(name)}, ${toSqlLiteral(value)}, ${name in NEEDED})`,
  );
  const isDirect = 'pg_backend_pid() = $1::int';
  return `
    SELECT current_setting('transaction_read_only'), current_setting('statement_timeout'),
      extract(epoch FROM pg_postmaster_start_time()), ${isDirect},
      count(set_config(name, value, false)) FILTER (WHERE ${isDirect}),
      string_agg(format('ALTER ROLE %I SET %s = %L', current_user, name, value), '; ') FILTER (WHERE NOT ${isDirect} AND is_needed)
    FROM (VALUES ${rows}) AS wanted (name, value, is_needed) WHERE current_setting(name) <> value`;
}

/** Returns SQL that sets the schema, and the settings for teams' SQL, until the end of the transaction. */
export function localSettingsSql(schema: string): string {
  const idle = { idle_in_transaction_session_timeout: `${IDLE_TIMEOUT}` };
  return Object.entries({ ...OF_TEAMS, ...idle, search_path: schema })
    .map(([name, value]) => `set_config(${toSqlLiteral(name)}, ${toSqlLiteral(value)}, true)`)
    .join();
}

/**
 * The most statements that are prepared on a connection; above this number, the least recently used statement is
 * dropped. A list needs one statement for each combination of filters.
 */
const MAX_STATEMENTS = 200;

/**
 * How long a query plan is used, in milliseconds. A plan that was made while a table was nearly empty is slow after the
 * table has grown.
 */
const FRESH = 10_000;

/** The property of pg's connection that lists its prepared statements. */
interface Noting {
  parsedStatements: Record<string, string>;
}

/**
 * The prepared statements of a connection. PostgreSQL parses and plans a prepared statement only once, which saves half
 * of the cost of a small statement.
 */
export class PreparedStatements {
  isOn = false;
  #made = 0;
  #since = performance.now();
  readonly #names: LRUCache<string, string>;

  constructor(connection: pg.Connection) {
    const { parsedStatements } = connection as unknown as Noting;
    const dispose = (name: string) => {
      // The message to drop a statement is sent together with the next statement, so that nothing waits for its answer.
      connection.close({ type: 'S', name }, true);
      delete parsedStatements[name];
    };
    this.#names = new LRUCache({ max: MAX_STATEMENTS, dispose });
  }

  /**
   * Returns the name of the prepared statement for this SQL; undefined if statements must not be prepared on this
   * connection.
   */
  nameOf(sql: string): string | undefined {
    if (!this.isOn) return undefined;
    if (performance.now() - this.#since > FRESH) this.forgetAll();
    const name = this.#names.get(sql) ?? `s${++this.#made}`;
    this.#names.set(sql, name);
    return name;
  }

  forgetAll(): void {
    this.#names.clear();
    this.#since = performance.now();
  }
}
