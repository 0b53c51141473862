/**
 * Runs the changes of a batch one after the other in one transaction, on both databases. A change that fails does not
 * affect the other changes. Every change may carry an `Idempotency-Key`.
 */

import type { Idempotency, SqlSteps } from '../collection.ts';
import type { StoredTable } from '../tables/record-codec.ts';
import { type Change, ChangeRunner, isTransactionCall, type Outcome, type TransactionCall } from './changes.ts';
import { type Dialect, sqlStep } from './statement.ts';
import { type AnyTransactions, inSavepoint, type RunContext, TransactionRunner } from './transactions.ts';

export type ChangeOrCall = Change | TransactionCall;

/** The stored data of an `Idempotency-Key`: the digest of its request, and the answer for a repeated request. */
type KnownKey = Pick<Idempotency, 'digest'> & { answer: string };

/**
 * The keys of a batch. `stored` maps the text of each key to its stored data; `added` lists the keys that the batch
 * must store.
 */
interface KnownKeys {
  stored: Map<string, KnownKey>;
  added: (Idempotency & KnownKey)[];
}

/** The functions of a database that run the changes of a batch. */
export interface RunningBatch<Fault> extends RunContext {
  /**
   * Whether there is time to begin the change. If not, the caller leaves this change and all later ones to another
   * batch.
   */
  mayBegin(change: ChangeOrCall): boolean;
  /** Converts the error of a change to the answer of this change. The other changes are not affected. */
  toFault(error: unknown): Fault;
}

export class Batches {
  readonly changes: ChangeRunner;
  readonly #calls: TransactionRunner;
  readonly #keys: ReturnType<typeof toKeyStatements>;

  constructor(dialect: Dialect, stored: readonly StoredTable[], calls: AnyTransactions) {
    this.changes = new ChangeRunner(dialect, stored);
    this.#calls = new TransactionRunner(this.changes, calls);
    this.#keys = toKeyStatements(dialect);
  }

  /** Runs the changes, and returns their answers. Stops before the first change that may not begin. */
  *run<Fault>(changes: readonly ChangeOrCall[], context: RunningBatch<Fault>): SqlSteps<(Outcome | Fault)[]> {
    const known = { stored: yield* this.#find(changes), added: [] };
    const answers: (Outcome | Fault)[] = [];
    for (const change of changes) {
      if (!context.mayBegin(change)) break;
      const toAnswer = (error: unknown) => {
        const refused = isTransactionCall(change) ? undefined : context.refusalCodeOf(error, change);
        return refused === undefined ? context.toFault(error) : { refused };
      };
      const steps = this.#runOnce(change, context, known);
      answers.push(yield* inSavepoint(change, context, steps, toAnswer));
    }
    yield* this.#add(known);
    return answers;
  }

  *#runOnce(change: ChangeOrCall, context: RunContext, { stored, added }: KnownKeys): SqlSteps<Outcome> {
    const { idempotency } = change;
    const key = idempotency && toKeyText(idempotency);
    const before = key && stored.get(key);
    if (before) {
      const isSame = before.digest === idempotency.digest;
      return isSame ? { text: before.answer, isReplayed: true } : { refused: 'key_reused' };
    }
    const outcome = yield* isTransactionCall(change)
      ? this.#calls.run(change, context)
      : this.changes.run(change, context.now);
    const { text: answer, refused } = outcome;
    // If a change was refused or found no record, its key is not stored, so that the client may retry with the same
    // key.
    if (key && answer !== undefined && refused === undefined) {
      const one = { ...idempotency, answer };
      stored.set(key, one);
      added.push(one);
    }
    return outcome;
  }

  *#find(changes: readonly ChangeOrCall[]): SqlSteps<KnownKeys['stored']> {
    const sent = changes.flatMap(({ idempotency }) => idempotency ?? []);
    const stored = new Map<string, KnownKey>();
    for (const values of this.#keys.toValues(sent, KEY_COLUMNS)) {
      for (const [caller, operation, key, digest, answer] of (yield sqlStep(
        this.#keys.select,
        ...values,
      )) as string[][])
        stored.set(toKeyText({ caller, operation, key } as Idempotency), { digest, answer } as KnownKey);
    }
    return stored;
  }

  /**
   * Stores the keys of the batch. Also deletes expired keys: up to one more than it stores, so that the backlog of
   * expired keys shrinks with each batch, but no batch waits for many deletes.
   */
  *#add({ added }: KnownKeys): SqlSteps<void> {
    if (added.length === 0) return;
    const { nestsWrites, forget, butSent, upsert, toValues } = this.#keys;
    const most = added.length + 1;
    if (!nestsWrites) yield sqlStep(forget, most);
    for (const values of toValues(added, ALL)) {
      yield nestsWrites
        ? sqlStep(`WITH forgotten AS (${forget}${butSent}) ${upsert}`, most, ...values)
        : sqlStep(upsert, ...values);
    }
  }
}

const toKeyText = ({ caller, operation, key }: Idempotency) => JSON.stringify([caller, operation, key]);

const KEY_COLUMNS = ['caller', 'operation', 'key'] as const;
const ALL = [...KEY_COLUMNS, 'digest', 'answer', 'hours'] as const;
type Name = (typeof ALL)[number];

/**
 * Builds the statements that read, store and delete keys. In PostgreSQL, one run of a statement handles all keys of a
 * batch, passed as one JSON text, to save round trips. In SQLite, a run handles one key.
 */
function toKeyStatements({ nameOf, mark, elements, now, toHours, nestsWrites, row }: Dialect) {
  const table = nameOf({ name: 'idempotency_keys' });
  const toSent = (names: readonly Name[], number: number) =>
    `SELECT ${names.map((name) => `value ->> '${name}' AS ${name}`)} FROM ${elements(number)}`;
  const marks = (count: number) => Array.from({ length: count }, (_, index) => mark(index + 1)).join();
  return {
    nestsWrites,
    /** Returns the values to bind, as one list for each run of the statement. */
    toValues: <Sent extends { [One in Name]?: unknown }>(all: readonly Sent[], names: readonly Name[]): unknown[][] => {
      if (!nestsWrites) return all.map((sent) => names.map((name) => sent[name]));
      return all.length > 0 ? [[JSON.stringify(all)]] : [];
    },
    select: `
      SELECT ${KEY_COLUMNS}, digest, answer FROM ${table}
      WHERE (${KEY_COLUMNS}) ${nestsWrites ? `IN (${toSent(KEY_COLUMNS, 1)})` : `= (${marks(3)})`} AND expires_at > ${now}`,
    forget: `
      DELETE FROM ${table} WHERE ${row} IN (
        SELECT ${row} FROM ${table} WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${mark(1)})`,
    // Excludes the expired keys that the same statement adds again, because one statement must not write a row twice.
    butSent: ` AND (${KEY_COLUMNS}) NOT IN (${toSent(KEY_COLUMNS, 2)})`,
    upsert: `
      INSERT INTO ${table} (${KEY_COLUMNS}, digest, answer, expires_at)
      ${
        nestsWrites
          ? `SELECT ${KEY_COLUMNS}, digest, answer, ${now} + ${toHours('CAST(hours AS bigint)')} FROM (${toSent(ALL, 2)}) AS sent`
          : `VALUES (${marks(5)}, ${now} + ${toHours(mark(6))})`
      }
      ON CONFLICT (${KEY_COLUMNS}) DO UPDATE SET digest = excluded.digest, answer = excluded.answer, expires_at = excluded.expires_at`,
  };
}
