/**
 * Runs all waiting changes in one transaction, one after the other. The transaction holds the advisory lock of the
 * schema. If one change fails, the transaction is rolled back, and all its changes run again, each in its own
 * savepoint.
 */
import { Batches, type ChangeOrCall, type RunningBatch } from '../changes/batches.ts';
import {
  areSame,
  type Change,
  type ChangeRunner,
  isTransactionCall,
  type Outcome,
  refusalCodeOf,
} from '../changes/changes.ts';
import type { AnyTransactions } from '../changes/transactions.ts';
import { StoreUnavailable } from '../store.ts';
import type { StoredTable } from '../tables/record-codec.ts';
import { type BatchLoader, blameOne, toFault } from './coalescing.ts';
import type { PostgresConnection } from './connection.ts';
import { lockOf, NOW, toDialect } from './dialect.ts';
import { drive } from './drive.ts';
import { localSettingsSql } from './session.ts';

/**
 * The most changes, and the most calls of a domain's transactions, that one transaction of PostgreSQL runs. The two
 * limits are low enough for the transaction to end before its timeout.
 */
export const MOST_CHANGES = 64;
export const MOST_CALLS = 8;

/** How long a transaction may hold the lock of the schema, in milliseconds. Then another server gets its turn. */
const TURN = 100;

/** The error for changes that could not begin before their timeout. */
const LATE = new StoreUnavailable(new Error('the changes before it took long'));

const endOf = ({ until = Number.POSITIVE_INFINITY }: PostgresConnection) => until;

type Answer = Outcome | Error;

export function buildRunChanges(
  schema: string,
  stored: readonly StoredTable[],
  calls: AnyTransactions = {},
): BatchLoader<ChangeOrCall, Answer> {
  const transactions = new ChangeTransactions(schema, stored, calls);
  const runAll: BatchLoader<ChangeOrCall, Answer> = blameOne(async (connection, changes) => {
    let answers = await transactions.tryToRun(connection, changes, false);
    if (answers instanceof Error && !(answers instanceof StoreUnavailable))
      answers = await transactions.tryToRun(connection, changes, true);
    if (answers instanceof Error) throw answers;
    const rest = changes.slice(answers.length);
    return rest.length > 0 ? [...answers, ...(await runAll(connection, rest))] : answers;
  });
  return runAll;
}

class ChangeTransactions {
  readonly #begin: string;
  readonly #batches: Batches;

  constructor(schema: string, stored: readonly StoredTable[], calls: AnyTransactions) {
    this.#begin = `BEGIN ISOLATION LEVEL READ COMMITTED;
      SELECT ${localSettingsSql(schema)}, pg_advisory_xact_lock(${lockOf(schema)});
      SELECT ${NOW}`;
    this.#batches = new Batches(toDialect(schema), stored, calls);
  }

  /**
   * Runs the changes in order, for at most TURN milliseconds. Returns the answers of the changes that ran. If the
   * transaction fails, returns the error: the kind of a StoreUnavailable gives the outcome, and any other error means
   * that nothing was changed.
   */
  async tryToRun(connection: PostgresConnection, changes: ChangeOrCall[], isSafe: boolean): Promise<Answer[] | Error> {
    let isCommitting = false;
    if (performance.now() > endOf(connection)) return LATE;
    try {
      const answers = await this.#run(connection, changes, isSafe);
      isCommitting = true;
      await connection.query('COMMIT');
      return answers;
    } catch (error) {
      // If the connection is lost, PostgreSQL itself rolls back the transaction.
      if (connection.isOpen) await Promise.allSettled([connection.query('ROLLBACK')]);
      else if (isCommitting) return new StoreUnavailable(error, 'outcome_unknown');
      return connection.isOpen || error instanceof StoreUnavailable ? (error as Error) : new StoreUnavailable(error);
    }
  }

  async #run(connection: PostgresConnection, changes: ChangeOrCall[], isSafe: boolean): Promise<Answer[]> {
    const [[now]] = (await connection.query(this.#begin)) as [[string]];
    let end: number | undefined;
    let latest: ChangeOrCall | undefined;
    const running: RunningBatch<Error> = {
      now,
      isSafe,
      hasSavepoint: () => isSafe,
      isFatal: (error) => !isSafe || error instanceof StoreUnavailable,
      mayBegin: (change) => {
        latest = change;
        // The time limit TURN begins with the first change, after the transaction has waited for the lock.
        end ??= Math.min(performance.now() + TURN, endOf(connection));
        return performance.now() <= end;
      },
      refusalCodeOf: (error, change) => codeOf(error as DatabaseError, change, this.#batches.changes),
      toFault: (error) => toFault(error as DatabaseError),
    };
    try {
      const answers = await drive(connection, this.#batches.run(changes, running));
      if (answers.length === 0) throw LATE;
      return answers;
    } catch (error) {
      // If the running change does not end in time, the connection is closed. If that change is a call of a domain's
      // transaction, the error names this transaction.
      if (connection.isOpen || !latest || !isTransactionCall(latest)) throw error;
      throw new Error(`${latest.collection}.${latest.call}: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** An error of PostgreSQL. The names of the columns are in `detail`. */
interface DatabaseError extends Error {
  code?: string;
  detail?: string;
}

/** SQLSTATEs. */
const [OUT_OF_RANGE, NO_PARENT, NOT_UNIQUE] = ['22003', '23503', '23505'];

/**
 * Returns the code of a refusal, if the error of the database means that the change is refused. Returns undefined for
 * other errors.
 */
function codeOf({ code, detail = '' }: DatabaseError, change: Change, changes: ChangeRunner): string | undefined {
  if (code === OUT_OF_RANGE) return 'out_of_range';
  const table = changes.tableOf(change);
  // `detail` is a text such as `Key (shop, lower(name))=(…)`, in the language of the server. Names that are reserved
  // words of SQL are in quotes.
  const [keys] = detail.slice(detail.indexOf('(') + 1).split(')=(', 1) as [string];
  const columns = keys.replace(/lower\(|[)" ]/g, '').split(',');
  if (code === NO_PARENT)
    return refusalCodeOf(change, table, {
      kind: 'reference',
      isLost: (relation) => areSame(relation.columns, columns),
    });
  return code === NOT_UNIQUE ? refusalCodeOf(change, table, { kind: 'unique', columns }) : undefined;
}
