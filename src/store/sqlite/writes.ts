/** All writes that wait, in one transaction: all of them or none, one fsync however many they are (group commit). */
import type { Database, Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { type Asking, Changes, isKept, toKnown, toRefusal } from '../changes.ts';
import type { Once } from '../collection.ts';
import { StoreUnavailable } from '../store.ts';
import type { Table } from '../table.ts';
import type { Change, Create, Created, KnownKey, Outcome } from '../write.ts';
import { toStoreError } from './connection.ts';
import { prepareInsert, type Rows, toBound, toRow, toRows } from './insert.ts';
import { toJsonSql } from './record-json.ts';
import { inTransaction } from './transaction.ts';

export type Write = Create | Change;

const isChange = (write: Write): write is Change => 'kind' in write;

export interface Batch {
  /** Those that are created without a key, by the names of their collections. */
  rows: Record<string, Rows>;
  changes: Change[];
}

/** Why one change was not done, while others were. */
interface Fault {
  code: string | undefined;
  message: string;
}

/** What the writes of a batch have come to. */
export interface Written {
  now: string;
  /** The number of each collection's first record; those after it have the next ones. */
  first: Record<string, bigint>;
  changes: (Outcome | Fault)[];
}

export function toBatch(tables: ReadonlyMap<string, Table>, writes: readonly Write[]): Batch {
  const rows: Record<string, string[]> = {};
  const changes: Change[] = [];
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

/** Says of each write of the batch what it has come to. */
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

/** @throws StoreUnavailable when it is unknown whether COMMIT stored them, or there are not enough ids */
export function prepareWriteAll(db: Database, tables: readonly Table[]): (batch: Batch) => Written {
  const inserts = new Map(tables.map((table) => [table.collection, prepareInsert(db, table)]));
  const readNow = db.prepare<[], string>("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')").pluck();
  const changing = new Changing(db, tables);

  return inTransaction(db, ({ rows, changes }: Batch) => {
    const now = readNow.get() as string;
    const first: Record<string, bigint> = {};
    for (const name in rows) first[name] = inserts.get(name)?.insert(rows[name] as Rows, now) as bigint;
    const most = changes.reduce((sum, { all }) => sum + (all?.length ?? 1), 0);
    for (const { collection, kind } of changes) {
      if (kind === 'create' || kind === 'put') inserts.get(collection)?.checkLeft(most);
    }
    return { now, first, changes: changing.run(changes, now) };
  });
}

/** How many statements of changes are kept. */
const STATEMENTS = 200;

class Changing {
  readonly #db: Database;
  readonly #changes: Changes;
  readonly #keys: ReturnType<typeof prepareKnownKeys>;
  readonly #statements = new LRUCache<string, Statement<unknown[], unknown[]>>({ max: STATEMENTS });

  constructor(db: Database, tables: readonly Table[]) {
    this.#db = db;
    this.#keys = prepareKnownKeys(db);
    this.#changes = new Changes({ place: () => '?', toValue: toBound, nameOf: ({ name }) => name, toJsonSql }, tables);
  }

  /** An error of one leaves all others as they are. */
  run(changes: readonly Change[], now: string): (Outcome | Fault)[] {
    const outcomes = changes.map((change) => this.#try(change, now));
    if (changes.some(({ once }) => once)) this.#keys.forget(changes.length + 1);
    return outcomes;
  }

  #try(change: Change, now: string): Outcome | Fault {
    if (change.all) this.#db.exec('SAVEPOINT change');
    try {
      return this.#runOnce(change, now);
    } catch (error) {
      if (change.all && this.#db.inTransaction) this.#db.exec('ROLLBACK TO change');
      if (!this.#db.inTransaction || toStoreError(error) instanceof StoreUnavailable) throw error;
      const { code, message } = error as { code?: string; message: string };
      const refused = this.#toRefusal(change, code, message);
      return refused === undefined ? { code, message } : { refused };
    }
  }

  #toRefusal(change: Change, code: string | undefined, message: string): string | undefined {
    const table = this.#changes.tableOf(change);
    // A sum beyond 64 bits is a number with a fraction, which no column takes.
    if (code === 'SQLITE_CONSTRAINT_DATATYPE') return Object.keys(change.add).length > 0 ? 'out_of_range' : undefined;
    if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') {
      return toRefusal(change, table, { kind: 'reference', columns: this.#findLost(change, table) });
    }
    const [, columns] = /^UNIQUE constraint failed: (.*)/.exec(message) ?? [];
    const names = columns?.split(', ').map((column) => column.slice(column.indexOf('.') + 1));
    return names && toRefusal(change, table, { kind: 'unique', columns: names });
  }

  /** The columns whose values are no ids of what they refer to, for SQLite does not name them. */
  #findLost({ record }: Change, { relations }: Table): string[] {
    const lost = relations.filter(({ field, parent: { id, name } }) => {
      const value = toBound(field, record[field.name]);
      return value !== null && this.#query(`SELECT 1 FROM ${name} WHERE ${id.column} = ?`, [value]).length === 0;
    });
    return lost.map(({ field }) => field.column);
  }

  #runOnce(change: Change, now: string): Outcome {
    const { once } = change;
    const known = once && toKnown(change, this.#keys.find(once));
    if (known) return known;
    const outcome = this.#drive(this.#changes.run(change, now));
    if (once && isKept(outcome)) this.#keys.add(once, outcome.text as string);
    return outcome;
  }

  #drive<Result>(asking: Asking<Result>): Result {
    let step = asking.next();
    while (!step.done) step = asking.next(this.#query(step.value.sql, step.value.values));
    return step.value;
  }

  #query(sql: string, values: unknown[]): unknown[][] {
    const statement = this.#statements.get(sql) ?? this.#db.prepare<unknown[], unknown[]>(sql).raw();
    this.#statements.set(sql, statement);
    return statement.all(...values);
  }
}

/** The keys of changes that were done. To be called in the transaction of other writes. */
function prepareKnownKeys(db: Database) {
  const select = db.prepare<[string, string, string], KnownKey>(`
    SELECT digest, answer AS text FROM idempotency_keys
    WHERE caller = ? AND operation = ? AND key = ? AND expires_at > unixepoch()`);
  const upsert = db.prepare<[string, string, string, string, string, number]>(`
    INSERT INTO idempotency_keys (caller, operation, key, digest, answer, expires_at)
    VALUES (?, ?, ?, ?, ?, unixepoch() + 3600 * ?)
    ON CONFLICT (caller, operation, key) DO UPDATE
    SET digest = excluded.digest, answer = excluded.answer, expires_at = excluded.expires_at`);
  // One more than come: so they become fewer, and no write waits for many.
  const forget = db.prepare<[number]>(`
    DELETE FROM idempotency_keys WHERE rowid IN (
      SELECT rowid FROM idempotency_keys WHERE expires_at <= unixepoch() ORDER BY expires_at LIMIT ?)`);

  return {
    find: ({ caller, operation, key }: Once) => select.get(caller, operation, key),
    add: ({ caller, operation, key, digest, hours }: Once, text: string) => {
      upsert.run(caller, operation, key, digest, text, hours);
    },
    forget: (count: number) => {
      forget.run(count);
    },
  };
}
