/**
 * Runs waiting changes one after the other in one transaction, which holds the advisory lock of the schema. If a change
 * fails, the transaction is rolled back, and all its changes run again, each in a savepoint.
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
 * How many changes, and how many calls of a domain's transactions, run in one transaction of PostgreSQL. The numbers
 * are small enough for the transaction to end before its timeout.
 */
export const MOST_CHANGES = 64;
export const MOST_CALLS = 8;

/** How long a transaction may hold the lock before another server gets it, in milliseconds. */
const TURN = 100;

/** The error of changes that could not begin before their timeout. */
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
   * Runs the changes in order, for at most TURN milliseconds, and returns the answers of those that ran. If this fails,
   * returns the error. A StoreUnavailable gives the outcome; any other error means that nothing was changed.
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
        // The turn is measured from the first change, without the wait for the lock.
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
      // If a transaction does not end, the connection is closed. Then the error names the transaction that was running.
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
