/** Group commit: runs all waiting writes in one transaction, so that they share one fsync. */
import { type Context, createContext, Script } from 'node:vm';
import type { Database } from 'better-sqlite3';
import { Batches, type RunningBatch } from '../changes/batches.ts';
import {
  type Change,
  type Create,
  type Created,
  isTransactionCall,
  type Outcome,
  refusalCodeOf,
  type TransactionCall,
} from '../changes/changes.ts';
import type { AnyTransactions } from '../changes/transactions.ts';
import { StoreUnavailable } from '../store.ts';
import type { StoredTable } from '../tables/record-codec.ts';
import type { Relation, Table } from '../tables/table.ts';
import { toStoreError } from './connection.ts';
import { DIALECT, Driver } from './drive.ts';
import { type Insert, prepareInsert, type Rows, toBound, toRow, toRows } from './insert.ts';
import { inTransaction } from './transaction.ts';

export type Write = Create | Change | TransactionCall;

export const isChange = (write: Write): write is Change | TransactionCall => 'idempotency' in write;

export interface Batch {
  /** The records of creates without an `Idempotency-Key`, by the name of the collection. */
  rows: Record<string, Rows>;
  changes: (Change | TransactionCall)[];
}

/** The error of a change that failed without affecting the others. */
interface Fault {
  code?: string | undefined;
  message: string;
}

/**
 * How long all changes of a batch together may take, in milliseconds. The limit grows by one millisecond for each
 * change. While they run, nobody else can write.
 */
const MOST_TIME = 1000;

/** Thrown if a transaction of the domain has not ended in time. */
export class TooLong extends Error {
  /** The index of the change that took too long; undefined if several changes together may have taken too long. */
  readonly at: number | undefined;

  constructor({ collection, call }: TransactionCall, time: number, at: number | undefined) {
    super(`${collection}.${call}: it has not ended in ${time} ms`);
    this.at = at;
  }
}

/** The outcomes of a batch. */
export interface Written {
  now: string;
  /**
   * For each collection, the sequence number of the first created record. The numbers of the others follow without
   * gaps.
   */
  first: Record<string, bigint>;
  changes: (Outcome | Fault)[];
}

export function toBatch(tables: ReadonlyMap<string, Table>, writes: readonly Write[]): Batch {
  const rows: Record<string, string[]> = {};
  const changes: Batch['changes'] = [];
  for (const write of writes) {
    if (isChange(write)) changes.push(write);
    else {
      const { newFields } = tables.get(write.collection) as Table;
      rows[write.collection] ??= [];
      rows[write.collection]?.push(toRow(newFields, write.record));
    }
  }
  return { rows: Object.fromEntries(Object.entries(rows).map(([name, all]) => [name, toRows(all)])), changes };
}

/** Returns the outcome of each write in a batch. */
export function toOutcomes(writes: readonly Write[], { now, first, changes }: Written): (Created | Outcome | Error)[] {
  const next = { ...first };
  let change = 0;
  return writes.map((write) => {
    if (!isChange(write)) {
      const sequence = next[write.collection] as bigint;
      next[write.collection] = sequence + 1n;
      return { sequence, now };
    }
    const outcome = changes[change++] as Outcome | Fault;
    return 'message' in outcome ? Object.assign(new Error(outcome.message), { code: outcome.code }) : outcome;
  });
}

/**
 * Prepares a function that writes a batch. That function throws StoreUnavailable if no ids are left, or if it is not
 * known whether COMMIT has succeeded.
 */
export function prepareWriteAll(
  db: Database,
  stored: readonly StoredTable[],
  calls: AnyTransactions,
): (batch: Batch) => Written {
  const inserts = new Map(stored.map(({ table }) => [table.collection, prepareInsert(db, table)]));
  const readNow = db.prepare<[], string>("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')").pluck();
  const changing = new ChangeRunner(db, stored, calls, inserts);

  return inTransaction(db, ({ rows, changes }: Batch) => {
    const now = readNow.get() as string;
    const first: Record<string, bigint> = {};
    for (const name in rows) first[name] = inserts.get(name)?.insert(rows[name] as Rows, now) as bigint;
    return { now, first, changes: changes.length > 0 ? changing.run(changes, now) : [] };
  });
}

const RUN = new Script('run()');
let context: Context | undefined;

class ChangeRunner {
  readonly #db: Database;
  readonly #driver: Driver;
  readonly #batches: Batches;
  readonly #inserts: ReadonlyMap<string, Insert>;
  /** `#begun` is the number of changes that have begun. `#beganAt` is the time when the latest change began. */
  #begun = 0;
  #beganAt = 0;

  constructor(db: Database, stored: readonly StoredTable[], calls: AnyTransactions, inserts: Map<string, Insert>) {
    this.#db = db;
    this.#driver = new Driver(db);
    this.#inserts = inserts;
    this.#batches = new Batches(DIALECT, stored, calls);
  }

  /** Runs the changes of a batch. A change that fails does not affect the others. */
  run(changes: Batch['changes'], now: string): (Outcome | Fault)[] {
    const most = changes.reduce((sum, change) => sum + (isTransactionCall(change) ? 1 : (change.all?.length ?? 1)), 0);
    const isAdding = (change: TransactionCall | Change, name: string) =>
      isTransactionCall(change) || ((change.kind === 'create' || change.kind === 'put') && change.collection === name);
    for (const [name, insert] of this.#inserts)
      if (changes.some((change) => isAdding(change, name))) insert.checkLeft(most);
    this.#begun = 0;
    const run = () => this.#driver.drive(this.#batches.run(changes, this.#toRunning(now)));
    return changes.some(isTransactionCall) ? this.#runInTime(changes, run) : run();
  }

  #toRunning(now: string): RunningBatch<Fault> {
    return {
      now,
      isSafe: true,
      hasSavepoint: (change) => isTransactionCall(change) || change.all !== undefined,
      isFatal: (error) => !this.#db.inTransaction || toStoreError(error) instanceof StoreUnavailable,
      mayBegin: () => {
        this.#begun++;
        this.#beganAt = performance.now();
        return true;
      },
      refusalCodeOf: (error, change) => this.#refusalCodeOf(error as Fault, change),
      toFault: (error) => ({ code: (error as Fault).code, message: (error as Fault).message }),
    };
  }

  /**
   * Runs the domain's functions with a timeout that they cannot catch. Without this timeout, a function that does not
   * end would stop all writes for ever.
   * @throws TooLong if the changes of the batch together take too long: then no change of the batch is written
   */
  #runInTime<Result>(changes: Batch['changes'], run: () => Result): Result {
    const time = MOST_TIME + changes.length;
    context ??= createContext();
    context.run = run;
    try {
      return RUN.runInContext(context, { timeout: time, displayErrors: false });
    } catch (error) {
      if ((error as Fault).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      const begun = changes.slice(0, this.#begun).findLast(isTransactionCall) as TransactionCall;
      // The latest change is only to blame if it has taken more than half of the time. Otherwise, earlier changes may
      // have used most of the time.
      const isToBlame = performance.now() - this.#beganAt > time / 2;
      throw new TooLong(begun, time, isToBlame ? this.#begun - 1 : undefined);
    }
  }

  #refusalCodeOf(error: Fault, change: Change): string | undefined {
    const { code, message } = error;
    const table = this.#batches.changes.tableOf(change);
    // The column rejects a sum of more than 64 bits, because SQLite turns it into a double. An added value that itself
    // takes more than 64 bits cannot be bound, which throws a RangeError.
    if (code === 'SQLITE_CONSTRAINT_DATATYPE' || error instanceof RangeError)
      return Object.keys(change.add).length > 0 ? 'out_of_range' : undefined;
    if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') {
      return refusalCodeOf(change, table, { kind: 'reference', isLost: (relation) => this.#isLost(change, relation) });
    }
    const [, columns] = /^UNIQUE constraint failed: (.*)/.exec(message) ?? [];
    const names = columns?.split(', ').map((column) => column.slice(column.indexOf('.') + 1));
    return names && refusalCodeOf(change, table, { kind: 'unique', columns: names });
  }

  /** Whether the change violates this foreign key. The error of SQLite does not name the key. */
  #isLost({ record, all = [record], tenant }: Change, { field, parent }: Relation): boolean {
    const mine = parent.tenant ? [tenant] : [];
    const sql = `SELECT 1 FROM ${parent.name} WHERE ${parent.id.column} = ?${parent.tenant ? ` AND ${parent.tenant.column} = ?` : ''}`;
    return all.some((one) => {
      const value = toBound(field, one[field.name]);
      return value !== null && this.#driver.query({ sql, values: [value, ...mine] }).length === 0;
    });
  }
}
