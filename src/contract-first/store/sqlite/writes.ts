/** Group commit: runs all waiting writes in one transaction, with one fsync. */
import type { Database } from 'better-sqlite3';
import { Changes, isKept, toKnown, toRefusal } from '../changes.ts';
import type { Idempotency } from '../collection.ts';
import type { Kept } from '../kept.ts';
import { StoreUnavailable } from '../store.ts';
import type { Relation, Table } from '../table.ts';
import { type AnyTransactions, Calls, type Running } from '../transactions.ts';
import { type Call, type Change, type Create, type Created, isCall, type KnownKey, type Outcome } from '../write.ts';
import { toStoreError } from './connection.ts';
import { DIALECT, Driver } from './drive.ts';
import { inTime, NotEnded } from './in-time.ts';
import { type Insert, prepareInsert, type Rows, toBound, toRow, toRows } from './insert.ts';
import { inTransaction } from './transaction.ts';

export type Write = Create | Change | Call;

export const isChange = (write: Write): write is Change | Call => 'idempotency' in write;

export interface Batch {
  /** The records to create without an `Idempotency-Key`, by collection. */
  rows: Record<string, Rows>;
  changes: (Change | Call)[];
}

/** The error of a change that failed alone. */
interface Fault {
  code: string | undefined;
  message: string;
}

/** How long the changes of a batch may take, in milliseconds, plus one for each change: nobody else can write meanwhile. */
const MOST_TIME = 1000;

export class TooLong extends Error {
  /** The index of the change to blame; undefined if several took long. */
  readonly at: number | undefined;

  constructor({ collection, call }: Call, why: string, at: number | undefined) {
    super(`${collection}.${call}: ${why}`);
    this.at = at;
  }
}

/** The outcomes of a batch. */
export interface Written {
  now: string;
  /** The sequence number of each collection's first record; the others follow. */
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

/** The outcome of each write of the batch. */
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

/** The function @throws StoreUnavailable when it is unknown whether COMMIT succeeded, or the ids are used up */
export function prepareWriteAll(
  db: Database,
  kept: readonly Kept[],
  calls: AnyTransactions,
): (batch: Batch) => Written {
  const inserts = new Map(kept.map(({ table }) => [table.collection, prepareInsert(db, table)]));
  const readNow = db.prepare<[], string>("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')").pluck();
  const changing = new Changing({ db, kept, calls, inserts });

  return inTransaction(db, ({ rows, changes }: Batch) => {
    const now = readNow.get() as string;
    const first: Record<string, bigint> = {};
    for (const name in rows) first[name] = inserts.get(name)?.insert(rows[name] as Rows, now) as bigint;
    return { now, first, changes: changing.run(changes, now) };
  });
}

class Changing {
  readonly #db: Database;
  readonly #driver: Driver;
  readonly #changes: Changes;
  readonly #calls: Calls;
  readonly #keys: ReturnType<typeof prepareKnownKeys>;
  readonly #inserts: ReadonlyMap<string, Insert>;
  /** When the current change began. */
  #began = 0;

  constructor(parts: { db: Database; kept: readonly Kept[]; calls: AnyTransactions; inserts: Map<string, Insert> }) {
    const { db, kept, calls, inserts } = parts;
    this.#db = db;
    this.#driver = new Driver(db);
    this.#keys = prepareKnownKeys(db);
    this.#inserts = inserts;
    this.#changes = new Changes(DIALECT, kept);
    this.#calls = new Calls(kept, this.#changes, calls);
  }

  /** Runs the changes. An error of one does not affect the others. */
  run(changes: Batch['changes'], now: string): (Outcome | Fault)[] {
    const running: Running = {
      now,
      isSafe: true,
      hasSavepoint: isMany,
      toRefusal: (error, change) => this.#toRefusal(change, error as Thrown),
    };
    const most = changes.reduce((sum, change) => sum + (isCall(change) ? 1 : (change.all?.length ?? 1)), 0);
    const isAdding = (change: Call | Change, name: string) =>
      isCall(change) || ((change.kind === 'create' || change.kind === 'put') && change.collection === name);
    for (const [name, insert] of this.#inserts)
      if (changes.some((change) => isAdding(change, name))) insert.checkLeft(most);
    const outcomes = changes.some(isCall) ? this.#tryInTime(changes, running) : this.#tryAll(changes, running);
    if (changes.some(({ idempotency }) => idempotency)) this.#keys.forget(changes.length + 1);
    return outcomes;
  }

  #tryAll(changes: Batch['changes'], running: Running, outcomes: (Outcome | Fault)[] = []): (Outcome | Fault)[] {
    for (const change of changes) {
      this.#began = performance.now();
      outcomes.push(this.#try(change, running));
    }
    return outcomes;
  }

  /** @throws TooLong if a change does not end: then nothing of the batch is done */
  #tryInTime(changes: Batch['changes'], running: Running): (Outcome | Fault)[] {
    const outcomes: (Outcome | Fault)[] = [];
    const time = MOST_TIME + changes.length;
    try {
      return inTime(() => this.#tryAll(changes, running, outcomes), time);
    } catch (error) {
      if (!(error instanceof NotEnded)) throw error;
      const at = outcomes.length;
      const begun = changes.slice(0, at + 1).findLast(isCall) as Call;
      // An earlier change may have used most of the time.
      const isToBlame = performance.now() - this.#began > time / 2;
      throw new TooLong(begun, error.message, isToBlame ? at : undefined);
    }
  }

  /** Runs a change; if it has several statements, within a savepoint. */
  #try(change: Change | Call, running: Running): Outcome | Fault {
    const hasSavepoint = isCall(change) || isMany(change);
    if (hasSavepoint) this.#driver.query({ sql: 'SAVEPOINT change', values: [] });
    try {
      const outcome = this.#runOnce(change, running);
      if (hasSavepoint && outcome.refused === undefined) this.#driver.query({ sql: 'RELEASE change', values: [] });
      else if (hasSavepoint) this.#db.exec(TAKE_BACK);
      return outcome;
    } catch (error) {
      if (hasSavepoint && this.#db.inTransaction) this.#db.exec(TAKE_BACK);
      if (!this.#db.inTransaction || toStoreError(error) instanceof StoreUnavailable) throw error;
      const { code, message } = error as Thrown;
      const refused = isCall(change) ? undefined : this.#toRefusal(change, error as Thrown);
      return refused === undefined ? { code, message } : { refused };
    }
  }

  #toRefusal(change: Change, error: Thrown): string | undefined {
    const { code, message } = error;
    const table = this.#changes.tableOf(change);
    // A sum beyond 64 bits becomes a double, which the column refuses; an addend beyond 64 bits cannot be bound.
    if (code === 'SQLITE_CONSTRAINT_DATATYPE' || error instanceof RangeError)
      return Object.keys(change.add).length > 0 ? 'out_of_range' : undefined;
    if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') {
      return toRefusal(change, table, { kind: 'reference', isLost: (relation) => this.#isLost(change, relation) });
    }
    const [, columns] = /^UNIQUE constraint failed: (.*)/.exec(message) ?? [];
    const names = columns?.split(', ').map((column) => column.slice(column.indexOf('.') + 1));
    return names && toRefusal(change, table, { kind: 'unique', columns: names });
  }

  /** Whether this foreign key is violated: SQLite does not say which one is. */
  #isLost({ record, all = [record], tenant }: Change, { field, parent }: Relation): boolean {
    const mine = parent.tenant ? [tenant] : [];
    const sql = `SELECT 1 FROM ${parent.name} WHERE ${parent.id.column} = ?${parent.tenant ? ` AND ${parent.tenant.column} = ?` : ''}`;
    return all.some((one) => {
      const value = toBound(field, one[field.name]);
      return value !== null && this.#driver.query({ sql, values: [value, ...mine] }).length === 0;
    });
  }

  #runOnce(change: Change | Call, running: Running): Outcome {
    const { idempotency } = change;
    const known = idempotency && toKnown(change, this.#keys.find(idempotency));
    if (known) return known;
    const asking = isCall(change) ? this.#calls.run(change, running) : this.#changes.run(change, running.now);
    const outcome = this.#driver.drive(asking);
    if (idempotency && isKept(outcome)) this.#keys.add(idempotency, outcome.text as string);
    return outcome;
  }
}

interface Thrown {
  code?: string;
  message: string;
}

const isMany = ({ all }: Change) => all !== undefined;

const TAKE_BACK = 'ROLLBACK TO change; RELEASE change';

/** The stored `Idempotency-Key`s. To be used within the transaction of the changes. */
function prepareKnownKeys(db: Database) {
  const select = db.prepare<[string, string, string], KnownKey>(`
    SELECT digest, answer AS text FROM idempotency_keys
    WHERE caller = ? AND operation = ? AND key = ? AND expires_at > unixepoch()`);
  const upsert = db.prepare<[string, string, string, string, string, number]>(`
    INSERT INTO idempotency_keys (caller, operation, key, digest, answer, expires_at)
    VALUES (?, ?, ?, ?, ?, unixepoch() + 3600 * ?)
    ON CONFLICT (caller, operation, key) DO UPDATE
    SET digest = excluded.digest, answer = excluded.answer, expires_at = excluded.expires_at`);
  // Called with one more than were added: so expired keys become fewer, and no write waits for many deletes.
  const forget = db.prepare<[number]>(`
    DELETE FROM idempotency_keys WHERE rowid IN (
      SELECT rowid FROM idempotency_keys WHERE expires_at <= unixepoch() ORDER BY expires_at LIMIT ?)`);

  return {
    find: ({ caller, operation, key }: Idempotency) => select.get(caller, operation, key),
    add: ({ caller, operation, key, digest, hours }: Idempotency, text: string) => {
      upsert.run(caller, operation, key, digest, text, hours);
    },
    forget: (count: number) => {
      forget.run(count);
    },
  };
}
