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
    this.#calls = new Calls(stored, this.changes, calls);
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
    const rows = sent.length > 0 ? yield toStep(this.#keys.select, JSON.stringify(sent)) : [];
    const entries = (rows as string[][]).map(([caller, operation, key, digest, answer]) => [
      toKeyText({ caller, operation, key } as Idempotency),
      { digest, answer },
    ]);
    return new Map(entries as [string, KnownKey][]);
  }

  /** Deletes up to one expired key more than it adds: so they become fewer, and no write waits for many deletes. */
  *#add({ added }: KnownKeys): SqlSteps<void> {
    if (added.length === 0) return;
    const { nestsWrites, forget, upsert } = this.#keys;
    const [most, texts] = [added.length + 1, JSON.stringify(added)];
    if (nestsWrites) yield toStep(`WITH forgotten AS (${forget}) ${upsert}`, most, texts);
    else {
      yield toStep(forget, most, texts);
      yield toStep(upsert, texts);
    }
  }
}

const toKeyText = ({ caller, operation, key }: Idempotency) => JSON.stringify([caller, operation, key]);

/** The statements of stored keys, which they take as one text of JSON. */
function toKeyStatements({ nameOf, mark, elements, now, toHours, nestsWrites }: Dialect) {
  const table = nameOf({ name: 'idempotency_keys' });
  const key = 'caller, operation, key';
  const sent = "value ->> 'caller' AS caller, value ->> 'operation' AS operation, value ->> 'key' AS key";
  return {
    nestsWrites,
    select: `
      SELECT ${key}, digest, answer FROM (SELECT ${sent} FROM ${elements(1)}) AS sent JOIN ${table} USING (${key})
      WHERE expires_at > ${now}`,
    forget: `
      DELETE FROM ${table} WHERE (${key}) IN (
        SELECT ${key} FROM ${table} WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${mark(1)})
      AND (${key}) NOT IN (SELECT ${sent} FROM ${elements(2)})`,
    upsert: `
      INSERT INTO ${table} (${key}, digest, answer, expires_at)
      SELECT ${sent}, value ->> 'digest', value ->> 'answer', ${now} + ${toHours("CAST(value ->> 'hours' AS bigint)")}
      FROM ${elements(nestsWrites ? 2 : 1)} WHERE true
      ON CONFLICT (${key}) DO UPDATE SET digest = excluded.digest, answer = excluded.answer, expires_at = excluded.expires_at`,
  };
}
