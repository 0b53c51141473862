/**
 * Runs the waiting changes one after the other in one transaction, which holds the schema's lock. If one fails, all run again, each
 * within a savepoint.
 */
import { areSame, Changes, isKept, toKnown, toRefusal } from '../changes.ts';
import type { Idempotency } from '../collection.ts';
import type { Kept } from '../kept.ts';
import { StoreUnavailable } from '../store.ts';
import { type AnyTransactions, Calls, type Running } from '../transactions.ts';
import { type Call, type Change, isCall, type KnownKey, type Outcome, toKeyText } from '../write.ts';
import { type AskAll, blameOne, toFault } from './coalescing.ts';
import type { Connection, Row } from './connection.ts';
import { drive, toDialect } from './drive.ts';
import { lockOf, NOW } from './names.ts';
import { toLocalSettings } from './session.ts';

/** How many changes, and how many calls of a domain's transactions, may share one of PostgreSQL: it must end before its timeout. */
export const MOST_CHANGES = 64;
export const MOST_CALLS = 8;

/** How long a transaction may hold the lock before it is another server's turn, in milliseconds. */
const TURN = 100;

/** For changes that have not begun when their time is nearly over. */
const LATE = new StoreUnavailable(new Error('the changes before it took long'));

const endOf = ({ until = Number.POSITIVE_INFINITY }: Connection) => until;

type Answer = Outcome | Error;
type AnyChange = Change | Call;

export function buildRunChanges(
  schema: string,
  kept: readonly Kept[],
  calls: AnyTransactions = {},
): AskAll<AnyChange, Answer> {
  const batches = new Batches(schema, kept, calls);
  const runAll: AskAll<AnyChange, Answer> = blameOne(async (connection, changes) => {
    let answers = await batches.tryToRun(connection, changes, false);
    if (answers instanceof Error && !(answers instanceof StoreUnavailable))
      answers = await batches.tryToRun(connection, changes, true);
    if (answers instanceof Error) throw answers;
    const rest = changes.slice(answers.length);
    return rest.length > 0 ? [...answers, ...(await runAll(connection, rest))] : answers;
  });
  return runAll;
}

class Batches {
  readonly #begin: string;
  readonly #changes: Changes;
  readonly #calls: Calls;
  readonly #keys: ReturnType<typeof buildKnownKeys>;

  constructor(schema: string, kept: readonly Kept[], calls: AnyTransactions) {
    this.#begin = `BEGIN ISOLATION LEVEL READ COMMITTED;
      SELECT ${toLocalSettings(schema)}, pg_advisory_xact_lock(${lockOf(schema)});
      SELECT ${NOW}`;
    this.#keys = buildKnownKeys(schema);
    this.#changes = new Changes(toDialect(schema), kept);
    this.#calls = new Calls(kept, this.#changes, calls);
  }

  /** Returns the answers to the first changes, as many as fit into a turn; or the error, which says whether it is known that nothing was done. */
  async tryToRun(connection: Connection, changes: AnyChange[], isSafe: boolean): Promise<Answer[] | Error> {
    let isCommitting = false;
    if (performance.now() > endOf(connection)) return LATE;
    try {
      const answers = await this.#run(connection, changes, isSafe);
      isCommitting = true;
      await connection.query('COMMIT');
      return answers;
    } catch (error) {
      // If the connection is lost, so is the transaction.
      if (connection.isOpen) await Promise.allSettled([connection.query('ROLLBACK')]);
      else if (isCommitting) return new StoreUnavailable(error, 'outcome_unknown');
      return connection.isOpen || error instanceof StoreUnavailable ? (error as Error) : new StoreUnavailable(error);
    }
  }

  async #run(connection: Connection, changes: AnyChange[], isSafe: boolean): Promise<Answer[]> {
    const [[now]] = (await connection.query(this.#begin)) as [[string]];
    const known = await this.#keys.find(connection, changes);
    const end = Math.min(performance.now() + TURN, endOf(connection));
    const answers: Answer[] = [];
    const toWhy = (error: unknown, change: Change) => toRefused(error as DatabaseError, change, this.#changes);
    const running: Running = { now, isSafe, hasSavepoint: () => isSafe, toRefusal: toWhy };
    for (const change of changes) {
      if (performance.now() > end) break;
      const runOne = () => this.#runOnce(connection, change, running, known);
      const toAnswer = (error: DatabaseError): Answer => {
        const refused = isCall(change) ? undefined : toWhy(error, change);
        return refused === undefined ? toFault(error) : { refused };
      };
      answers.push(isSafe ? await withinSavepoint(connection, runOne, toAnswer) : await runOne());
    }
    if (answers.length === 0) throw LATE;
    await this.#keys.add(connection, known);
    return answers;
  }

  async #runOnce(connection: Connection, change: AnyChange, running: Running, known: KnownKeys): Promise<Outcome> {
    const { idempotency } = change;
    const before = idempotency && toKnown(change, known.get(toKeyText(idempotency)));
    if (before) return before;
    const outcome = isCall(change)
      ? await this.#call(connection, change, running)
      : await drive(connection, this.#changes.run(change, running.now));
    if (idempotency && isKept(outcome)) known.add(idempotency, outcome.text as string);
    return outcome;
  }

  /** Names the transaction in the error of a lost connection: an endless one is stopped by closing its connection. */
  async #call(connection: Connection, made: Call, running: Running): Promise<Outcome> {
    try {
      return await drive(connection, this.#calls.run(made, running));
    } catch (error) {
      if (connection.isOpen) throw error;
      throw new Error(`${made.collection}.${made.call}: ${(error as Error).message}`, { cause: error });
    }
  }
}

async function withinSavepoint(
  connection: Connection,
  run: () => Promise<Outcome>,
  toAnswer: (error: DatabaseError) => Answer,
): Promise<Answer> {
  await connection.query('SAVEPOINT change');
  try {
    const outcome = await run();
    await connection.query(`${outcome.refused === undefined ? 'RELEASE' : 'ROLLBACK TO'} SAVEPOINT change`);
    return outcome;
  } catch (error) {
    if (!connection.isOpen || error instanceof StoreUnavailable) throw error;
    await connection.query('ROLLBACK TO SAVEPOINT change');
    return toAnswer(error as DatabaseError);
  }
}

/** PostgreSQL's error, whose detail names the columns. */
interface DatabaseError extends Error {
  code?: string;
  detail?: string;
}

/** SQLSTATEs. */
const [OUT_OF_RANGE, NO_PARENT, NOT_UNIQUE] = ['22003', '23503', '23505'];

function toRefused({ code, detail = '' }: DatabaseError, change: Change, changes: Changes): string | undefined {
  if (code === OUT_OF_RANGE) return 'out_of_range';
  const table = changes.tableOf(change);
  // `Key (shop, lower(name))=(…)`, in the server's language; SQL's reserved words are quoted.
  const [keys] = detail.slice(detail.indexOf('(') + 1).split(')=(', 1) as [string];
  const columns = keys.replace(/lower\(|[)" ]/g, '').split(',');
  if (code === NO_PARENT)
    return toRefusal(change, table, { kind: 'reference', isLost: (relation) => areSame(relation.columns, columns) });
  return code === NOT_UNIQUE ? toRefusal(change, table, { kind: 'unique', columns }) : undefined;
}

/** The `Idempotency-Key`s of a batch: those that are stored, and those that it adds. */
class KnownKeys {
  readonly added: [idempotency: Idempotency, text: string][] = [];
  readonly #known: Map<string, KnownKey>;

  constructor(rows: Row[]) {
    const entries = rows.map(([caller, operation, key, digest, text]): [string, KnownKey] => [
      toKeyText({ caller, operation, key } as Idempotency),
      { digest: digest as string, text: text as string },
    ]);
    this.#known = new Map(entries);
  }

  get(key: string): KnownKey | undefined {
    return this.#known.get(key);
  }

  add(idempotency: Idempotency, text: string): void {
    this.#known.set(toKeyText(idempotency), { digest: idempotency.digest, text });
    this.added.push([idempotency, text]);
  }
}

const KEY_FIELDS = ['caller', 'operation', 'key', 'digest', 'hours'] as const;

function buildKnownKeys(schema: string) {
  const keys = `${schema}.idempotency_keys`;
  const asked = 'unnest($1::text[], $2::text[], $3::text[]) AS asked (caller, operation, key)';
  const select = `
    SELECT caller, operation, key, digest, answer FROM ${keys} JOIN ${asked} USING (caller, operation, key)
    WHERE expires_at > now()`;
  // Deletes up to one expired key more than it adds: so they become fewer, and no write waits for many deletes.
  const upsert = `
    WITH forgotten AS (
      DELETE FROM ${keys} AS known WHERE (caller, operation, key) IN (
        SELECT caller, operation, key FROM ${keys} WHERE expires_at <= now() ORDER BY expires_at LIMIT $7)
      AND NOT EXISTS (SELECT FROM ${asked} WHERE (caller, operation, key) = (known.caller, known.operation, known.key))
    )
    INSERT INTO ${keys} (caller, operation, key, digest, expires_at, answer)
    SELECT caller, operation, key, digest, now() + hours * interval '1 hour', answer
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[])
      AS added (caller, operation, key, digest, hours, answer)
    ON CONFLICT (caller, operation, key) DO UPDATE
    SET digest = excluded.digest, expires_at = excluded.expires_at, answer = excluded.answer`;

  return {
    find: async (connection: Connection, changes: readonly AnyChange[]): Promise<KnownKeys> => {
      const sent = changes.flatMap(({ idempotency }) => idempotency ?? []);
      const columns = KEY_FIELDS.slice(0, 3).map((name) => sent.map((idempotency) => idempotency[name]));
      return new KnownKeys(sent.length > 0 ? await connection.query(select, columns) : []);
    },
    add: async (connection: Connection, { added }: KnownKeys): Promise<void> => {
      if (added.length === 0) return;
      const columns = KEY_FIELDS.map((name) => added.map(([idempotency]) => idempotency[name]));
      await connection.query(upsert, [...columns, added.map(([, text]) => text), added.length + 1]);
    },
  };
}
