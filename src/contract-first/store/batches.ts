/** The changes of one transaction, one after the other, for both databases. Each may fail alone, and has its `Idempotency-Key`. */
import { type Call, type Change, Changes, isCall, type Outcome } from './changes.ts';
import type { Idempotency, SqlSteps } from './collection.ts';
import type { StoredTable } from './record-codec.ts';
import { type Dialect, toStep } from './statement.ts';
import { type AnyTransactions, Calls, inSavepoint, type Running } from './transactions.ts';

export type AnyChange = Change | Call;

/** A stored `Idempotency-Key`, with its outcome. */
type KnownKey = Pick<Idempotency, 'digest'> & { answer: string };

/** The keys of a batch: all that are stored, by their texts, and those that it adds. */
interface KnownKeys {
  stored: Map<string, KnownKey>;
  added: (Idempotency & KnownKey)[];
}

/** How a database runs the changes of a batch. */
export interface RunningBatch<Fault> extends Running {
  /** Whether the change may begin; otherwise it is left to another batch, with all that follow. */
  mayBegin(change: AnyChange): boolean;
  /** The answer to a change that has failed alone. */
  toFault(error: unknown): Fault;
}

export class Batches {
  readonly changes: Changes;
  readonly #calls: Calls;
  readonly #keys: ReturnType<typeof toKeyStatements>;

  constructor(dialect: Dialect, stored: readonly StoredTable[], calls: AnyTransactions) {
    this.changes = new Changes(dialect, stored);
    this.#calls = new Calls(this.changes, calls);
    this.#keys = toKeyStatements(dialect);
  }

  /** Returns the answers to the changes that may begin. */
  *run<Fault>(changes: readonly AnyChange[], running: RunningBatch<Fault>): SqlSteps<(Outcome | Fault)[]> {
    const known = { stored: yield* this.#find(changes), added: [] };
    const answers: (Outcome | Fault)[] = [];
    for (const change of changes) {
      if (!running.mayBegin(change)) break;
      const toAnswer = (error: unknown) => {
        const refused = isCall(change) ? undefined : running.toRefusal(error, change);
        return refused === undefined ? running.toFault(error) : { refused };
      };
      const steps = this.#runOnce(change, running, known);
      answers.push(yield* inSavepoint(change, running, steps, toAnswer));
    }
    yield* this.#add(known);
    return answers;
  }

  *#runOnce(change: AnyChange, running: Running, { stored, added }: KnownKeys): SqlSteps<Outcome> {
    const { idempotency } = change;
    const key = idempotency && toKeyText(idempotency);
    const before = key && stored.get(key);
    if (before) {
      const isSame = before.digest === idempotency.digest;
      return isSame ? { text: before.answer, isReplayed: true } : { refused: 'key_reused' };
    }
    const outcome = yield* isCall(change) ? this.#calls.run(change, running) : this.changes.run(change, running.now);
    const { text: answer, refused } = outcome;
    // A change that was refused, or found no record, may be sent again.
    if (key && answer !== undefined && refused === undefined) {
      const one = { ...idempotency, answer };
      stored.set(key, one);
      added.push(one);
    }
    return outcome;
  }

  *#find(changes: readonly AnyChange[]): SqlSteps<KnownKeys['stored']> {
    const sent = changes.flatMap(({ idempotency }) => idempotency ?? []);
    const stored = new Map<string, KnownKey>();
    for (const values of this.#keys.toValues(sent, KEY)) {
      for (const [caller, operation, key, digest, answer] of (yield toStep(this.#keys.select, ...values)) as string[][])
        stored.set(toKeyText({ caller, operation, key } as Idempotency), { digest, answer } as KnownKey);
    }
    return stored;
  }

  /** Deletes up to one expired key more than it adds: so they become fewer, and no write waits for many deletes. */
  *#add({ added }: KnownKeys): SqlSteps<void> {
    if (added.length === 0) return;
    const { nestsWrites, forget, butSent, upsert, toValues } = this.#keys;
    const most = added.length + 1;
    if (!nestsWrites) yield toStep(forget, most);
    for (const values of toValues(added, ALL)) {
      yield nestsWrites
        ? toStep(`WITH forgotten AS (${forget}${butSent}) ${upsert}`, most, ...values)
        : toStep(upsert, ...values);
    }
  }
}

const toKeyText = ({ caller, operation, key }: Idempotency) => JSON.stringify([caller, operation, key]);

const KEY = ['caller', 'operation', 'key'] as const;
const ALL = [...KEY, 'digest', 'answer', 'hours'] as const;
type Name = (typeof ALL)[number];

/** The statements of stored keys: each for all keys, as one text of JSON, or for one key where a statement is no round trip. */
function toKeyStatements({ nameOf, mark, elements, now, toHours, nestsWrites, row }: Dialect) {
  const table = nameOf({ name: 'idempotency_keys' });
  const toSent = (names: readonly Name[], number: number) =>
    `SELECT ${names.map((name) => `value ->> '${name}' AS ${name}`)} FROM ${elements(number)}`;
  const marks = (count: number) => Array.from({ length: count }, (_, index) => mark(index + 1)).join();
  return {
    nestsWrites,
    /** The values for each run of a statement. */
    toValues: <Sent extends { [One in Name]?: unknown }>(all: readonly Sent[], names: readonly Name[]): unknown[][] => {
      if (!nestsWrites) return all.map((sent) => names.map((name) => sent[name]));
      return all.length > 0 ? [[JSON.stringify(all)]] : [];
    },
    select: `
      SELECT ${KEY}, digest, answer FROM ${table}
      WHERE (${KEY}) ${nestsWrites ? `IN (${toSent(KEY, 1)})` : `= (${marks(3)})`} AND expires_at > ${now}`,
    forget: `
      DELETE FROM ${table} WHERE ${row} IN (
        SELECT ${row} FROM ${table} WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${mark(1)})`,
    // One statement must not write a row twice.
    butSent: ` AND (${KEY}) NOT IN (${toSent(KEY, 2)})`,
    upsert: `
      INSERT INTO ${table} (${KEY}, digest, answer, expires_at)
      ${
        nestsWrites
          ? `SELECT ${KEY}, digest, answer, ${now} + ${toHours('CAST(hours AS bigint)')} FROM (${toSent(ALL, 2)}) AS sent`
          : `VALUES (${marks(5)}, ${now} + ${toHours(mark(6))})`
      }
      ON CONFLICT (${KEY}) DO UPDATE SET digest = excluded.digest, answer = excluded.answer, expires_at = excluded.expires_at`,
  };
}
