/**
 * Transactions: functions of a domain that make several changes, either all of them or none. A transaction is a
 * generator that yields statements. So the writing thread can run a transaction in the middle of a batch. A transaction
 * cannot wait for anything but the database.
 */

import { isObject } from '../../json/merge-patch.ts';
import { internalOf, markWhole } from '../../json/whole-records.ts';
import {
  type AllQuery,
  type Awaitable,
  type Fields,
  type Idempotency,
  type PageQuery,
  Refusal,
  type Refused,
  type SqlStep,
  type SqlSteps,
} from '../collection.ts';
import { readAll, readPage, toRecordPage, toStoredQuery, withTenant } from '../lists.ts';
import type { AnyDomain, CollectionInTransaction, Referenced, TenantOf } from '../tables/description.ts';
import type { RecordCodecs, StoredTable } from '../tables/record-codec.ts';
import { buildMethods, ChangeBuilder } from './change-builder.ts';
import type { Change, ChangeRunner, Outcome, TransactionCall } from './changes.ts';
import { sqlStep } from './statement.ts';

/**
 * The type of the first parameter of a transaction. Reads of its collections see the changes that the transaction has
 * already made.
 */
type Given<Domain extends AnyDomain> = {
  [Name in keyof Domain]: CollectionInTransaction<Domain[Name], Referenced<Domain, Name>>;
} & {
  /** The current time, which the store also sets in fields. */
  now: string;
  sql: Sql;
  tenant: Tenants<Domain>;
};
/**
 * The type of the property `tenant` in a transaction. In a collection with tenants, the transaction's methods see only
 * records of this tenant; only `sql` can read records of other tenants.
 */
type Tenants<Domain extends AnyDomain> = { [Name in keyof Domain]: TenantOf<Domain[Name]> }[keyof Domain];

/** The type of the first parameter of a reading function. The function's reads see the same snapshot. */
type GivenToRead<Domain extends AnyDomain> = {
  [Name in keyof Domain]: Pick<CollectionInTransaction<Domain[Name]>, 'get' | 'list' | 'all'>;
} & { sql: Sql; tenant: Tenants<Domain> };

/**
 * The type of `sql`, which runs a SQL statement that only reads. Values in the template are bound. A row is an object
 * with the names of the columns as keys. Integers are returned as bigint. In SQLite, booleans are returned as 0n or 1n,
 * and values of the type `number` as text. A value in the template may also be the result of another `sql` call without
 * `yield*`: its SQL is then inserted into the statement.
 */
type Sql = <Row>(
  texts: TemplateStringsArray,
  ...values: readonly (bigint | number | string | boolean | null | SqlPart<unknown>)[]
) => SqlPart<Row>;
declare const part: unique symbol;
interface SqlPart<Row> extends SqlSteps<Row[]> {
  readonly [part]: true;
}

/**
 * A SQL statement with bound values. The placeholder of each value is between two texts, so there is one more text than
 * there are values.
 */
interface SqlTemplate {
  texts: string[];
  values: unknown[];
}

interface Transaction<Input, Output> {
  readonly run: (given: never, input: Input) => SqlSteps<Output>;
  readonly isReading?: true;
}

/** The transactions of a domain: first by the name of their collection, then by their own name. */
export type AnyTransactions = Readonly<Record<string, Readonly<Record<string, Transaction<never, unknown>>>>>;

/** The transactions of a domain, with the URL of the module that exports them. The writing thread loads this module. */
export interface DomainTransactions {
  all: AnyTransactions;
  source: string;
}
export const NO_TRANSACTIONS: DomainTransactions = { all: {}, source: '' };

/**
 * The codecs and transactions of a domain, which the caller passes when it opens the domain's store. Without codecs,
 * records are only restricted by the types of the columns.
 */
export interface OfDomain {
  codecs?: RecordCodecs | undefined;
  transactions?: DomainTransactions;
}

export interface TransactionsModule {
  transactions: DomainTransactions;
  loadCodecs(): Awaitable<RecordCodecs>;
}

/** For each collection, the domain's transactions with the types that they have as methods of the collection. */
export type CallsOf<All> = {
  [Collection in keyof All]: {
    [Name in keyof All[Collection]]: All[Collection][Name] extends Transaction<infer Input, infer Output>
      ? (input: Input, how?: { idempotency?: Idempotency | undefined }) => Promise<Output>
      : never;
  };
};

/**
 * Makes a transaction: `transaction(function* ({ items }, input: Input) { … })`. In the function, write `yield*` before
 * each call of the store. The function must return plain data. If it returns `refused(…)` or throws, nothing is
 * changed. The store may run the function more than once, so it must not cause other effects.
 */
export const transactionOf =
  <Domain extends AnyDomain>() =>
  <Input, Output>(run: (given: Given<Domain>, input: Input) => SqlSteps<Output>): Transaction<Input, Output> => ({
    run: run as Transaction<Input, Output>['run'],
  });

/** Makes a function of the domain that only reads. The function does not wait for writes, and may return any value. */
export const readingOf =
  <Domain extends AnyDomain>() =>
  <Input, Output>(run: (given: GivenToRead<Domain>, input: Input) => SqlSteps<Output>): Transaction<Input, Output> => ({
    run: run as Transaction<Input, Output>['run'],
    isReading: true,
  });

export const refused = <const Why extends string>(why: Why): Refused<Why> =>
  new Refusal(why) as Refused<string> & Refused<Why>;

/** How a database runs changes and transactions, in the present batch. */
export interface RunContext {
  now: string;
  /**
   * Whether one refused change or transaction can be rolled back without the rest of its batch. If false, the whole
   * batch is rolled back, and runs again with savepoints.
   */
  isSafe: boolean;
  /** Whether the change runs in its own savepoint. */
  hasSavepoint(change: Change | TransactionCall): boolean;
  /** Whether the error ends the whole batch, and not only one change. */
  isFatal(error: unknown): boolean;
  /**
   * Returns the code of a refusal if the database's error means that the change is refused. Returns undefined for other
   * errors.
   */
  refusalCodeOf(error: unknown, change: Change): string | undefined;
}

/**
 * Runs the steps of a change or a transaction, in a savepoint if `hasSavepoint` requires one. If the change is refused
 * or fails, the savepoint is rolled back, so that none of the steps takes effect.
 */
export function* inSavepoint<Answer>(
  change: Change | TransactionCall,
  { hasSavepoint, isFatal }: RunContext,
  steps: SqlSteps<Outcome>,
  toAnswer: (error: unknown) => Answer,
): SqlSteps<Outcome | Answer> {
  const isOwn = hasSavepoint(change);
  if (isOwn) yield sqlStep('SAVEPOINT change');
  try {
    const outcome = yield* steps;
    if (isOwn) yield outcome.refused === undefined ? sqlStep('RELEASE SAVEPOINT change') : UNDO;
    return outcome;
  } catch (error) {
    if (isFatal(error)) throw error;
    if (isOwn) yield UNDO;
    return toAnswer(error);
  }
}

const UNDO: SqlStep = { sql: 'ROLLBACK TO SAVEPOINT change; RELEASE SAVEPOINT change' };

export class TransactionRunner {
  readonly #changes: ChangeRunner;
  readonly #all: AnyTransactions;

  constructor(changes: ChangeRunner, all: AnyTransactions) {
    this.#changes = changes;
    this.#all = all;
  }

  /**
   * Runs a transaction.
   * @throws Error if the transaction fails: the caller must then roll it back
   */
  *run(made: TransactionCall, context: RunContext): SqlSteps<Outcome> {
    const steps = new Steps(this.#changes, context);
    const output = yield* this.#start(made, steps, { now: context.now });
    if (!(output instanceof Refusal)) return { text: toOutput(output) };
    if (steps.isDirty && !context.isSafe) throw new Error(`${made.call} is to be rolled back`);
    return { refused: output.refused };
  }

  /** Runs a reading function. */
  read(made: TransactionCall): SqlSteps<unknown> {
    return this.#start(made, new Steps(this.#changes), {});
  }

  *#start({ collection, call, input, tenant }: TransactionCall, steps: Steps, more: Fields): SqlSteps<unknown> {
    // A proxy builds the methods of a collection only when the function uses the collection.
    const get = (own: Fields, name: string | symbol) => {
      const stored = this.#changes.stored.get(name);
      if (!stored) return own[String(name)];
      if (stored.table.tenant && tenant === undefined)
        throw new Error(`${call} belongs to ${collection}, which has no tenants: it cannot use ${String(name)}`);
      return steps.toMethods(stored, stored.table.tenant && tenant);
    };
    const given = new Proxy<Fields>({ ...more, sql: steps.sql, tenant }, { get });
    const transaction = this.#all[collection]?.[call] as Transaction<unknown, unknown>;
    const output = yield* transaction.run(given as never, input);
    steps.check(call);
    return output;
  }
}

/** A run of a transaction or of a reading function. */
class Steps {
  isDirty = false;
  readonly #changes: ChangeRunner;
  readonly #running: RunContext | undefined;
  readonly #failures: unknown[] = [];
  /** The method calls that the function has made, but that have not yet run to their end. */
  readonly #open = new Set<unknown>();
  readonly #parts = new WeakMap<object, SqlTemplate>();

  constructor(changes: ChangeRunner, context?: RunContext) {
    this.#changes = changes;
    this.#running = context;
  }

  /** Builds the methods of a collection. A reading function gets no methods that change records. */
  toMethods(stored: StoredTable, tenant: unknown): object {
    const { table, codec } = stored;
    const get = (id: unknown) =>
      this.#count(this.#changes.read(table, id, tenant), (text) =>
        text === undefined ? undefined : codec.whole.read(text),
      );
    const { dialect } = this.#changes;
    const whole = { dialect, toJsonSql: dialect.toJsonSql };
    const list = (asked: PageQuery) => {
      const query = toStoredQuery(table, withTenant(table, asked, tenant));
      return this.#count(readPage(table, query, whole), (page) => toRecordPage(page, codec.whole));
    };
    const all = (query: AllQuery) =>
      this.#count(readAll(table, withTenant(table, query, tenant), whole), (text) => codec.whole.read(text));
    if (!this.#running) return { get, list, all };
    const builder = new ChangeBuilder(stored, tenant);
    const run = (toChange: () => Change) => {
      const change = toChange();
      return this.#count(this.#run(change), (outcome) => builder.toAnswer(change, outcome));
    };
    return { get, list, all, ...buildMethods(builder, run) };
  }

  readonly sql = (texts: readonly string[], ...values: unknown[]): SqlSteps<Fields[]> => {
    const template = this.#join(texts, values);
    const steps = this.#count(this.#changes.select(template.texts, template.values), (rows) => rows);
    this.#parts.set(steps, template);
    return steps;
  };

  /**
   * Joins the texts and values of a template. If a value is itself a result of `sql`, its text and values are inserted.
   * Such an inner `sql` is removed from `#open`, because it needs no `yield*`.
   */
  #join([first = '', ...others]: readonly string[], values: readonly unknown[]): SqlTemplate {
    const all: SqlTemplate = { texts: [first], values: [] };
    const append = ([head, ...rest]: readonly string[]) => all.texts.push(all.texts.pop() + String(head), ...rest);
    for (const [index, value] of values.entries()) {
      const inner = this.#parts.get(Object(value));
      const { texts, values: own } = inner ?? { texts: ['', ''], values: [value] };
      this.#open.delete(inner && value);
      append(texts);
      all.values.push(...own);
      append([others[index] as string]);
    }
    return all;
  }

  /**
   * Throws the error of a failed call, even if the transaction's function has caught it. Also throws if a call was
   * never run, because `yield*` is missing before it.
   */
  check(call: string): void {
    if (this.#failures.length > 0) throw this.#failures[0];
    if (this.#open.size > 0) throw new Error(`${call} has a call without \`yield*\``);
  }

  #count<Found, Answer>(steps: SqlSteps<Found>, toAnswer: (found: Found) => Answer): SqlSteps<Answer> {
    const counted: SqlSteps<Answer> = this.#end(steps, (found) => {
      this.#open.delete(counted);
      return toAnswer(found);
    });
    this.#open.add(counted);
    return counted;
  }

  *#end<Found, Answer>(steps: SqlSteps<Found>, toAnswer: (found: Found) => Answer): SqlSteps<Answer> {
    try {
      return toAnswer(yield* steps);
    } catch (error) {
      this.#failures.push(error);
      throw error;
    }
  }

  *#run(change: Change): SqlSteps<Outcome> {
    const context = this.#running as RunContext;
    const toAnswer = (error: unknown): Outcome => {
      const refused = context.refusalCodeOf(error, change);
      if (refused === undefined) throw error;
      return { refused };
    };
    const outcome = yield* inSavepoint(change, context, this.#changes.run(change, context.now), toAnswer);
    this.isDirty ||= outcome.text !== undefined;
    return outcome;
  }
}

/**
 * Prefixes of strings in the JSON of a result, which show whether a string encodes a bigint, a text, or a list of
 * internal columns. Because texts also get a prefix, a client's text cannot be mistaken for a bigint or a list of
 * columns.
 */
const [INT64, TEXT, WHOLE] = ['n', 's', 'w'];

/**
 * The JSON form of a record with internal columns. The names of these columns are included, so that replies can omit
 * them.
 */
class WrittenRecord {
  readonly internal: string;
  readonly record: Fields;

  constructor(internal: readonly string[], record: Fields) {
    this.internal = WHOLE + JSON.stringify(internal);
    this.record = record;
  }
}

/** Writes the result of a transaction as JSON. The result is plain data. */
function toOutput(output: unknown): string {
  return JSON.stringify({ output }, function (this: unknown, name, value) {
    if (typeof value === 'bigint') return INT64 + value;
    if (typeof value === 'string') return this instanceof WrittenRecord && name === 'internal' ? value : TEXT + value;
    const internal = isObject(value) ? internalOf(value) : undefined;
    return internal ? new WrittenRecord(internal, { ...value }) : value;
  });
}

/** Reads the result of a transaction from an outcome. */
export function fromOutput({ text, refused: why }: Outcome): unknown {
  if (why !== undefined) return new Refusal(why);
  const { output } = JSON.parse(text as string, (_name, value) => {
    if (typeof value === 'string') return fromOutputText(value);
    return isObject(value) && value.internal instanceof Set
      ? markWhole(value.record as Fields, [...value.internal])
      : value;
  });
  return output;
}

function fromOutputText(text: string): unknown {
  if (text.startsWith(INT64)) return BigInt(text.slice(INT64.length));
  return text.startsWith(WHOLE) ? new Set(JSON.parse(text.slice(WHOLE.length))) : text.slice(TEXT.length);
}
