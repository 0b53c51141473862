/**
 * Transactions: functions of a domain that change several records, or none. They are generators, which ask for one statement after the other:
 * so the thread that writes runs them within its batch, and they can wait for nothing else.
 */
import type { Ask, Asking } from './asking.ts';
import type { Changes } from './changes.ts';
import { type Awaitable, type Fields, type Idempotency, type PageQuery, Refusal, type Refused } from './collection.ts';
import type { AnyDomain, CollectionInTransaction, Referenced, TenantOf } from './description.ts';
import type { Kept } from './kept.ts';
import { readPage, toPage } from './lists.ts';
import type { Shapes } from './shape.ts';
import type { Call, Change, Outcome } from './write.ts';
import { buildMethods, Writing } from './writing.ts';

/** The first parameter of a transaction's function: the collections as they are now, with what it has changed itself. */
export type Given<Domain extends AnyDomain> = {
  [Name in keyof Domain]: CollectionInTransaction<Domain[Name], Referenced<Domain, Name>>;
} & {
  /** The time of now, as the store sets it. */
  now: string;
  sql: Sql;
  tenant: Tenants<Domain>;
};
/** Of a transaction of a collection that has tenants: all that it is given is bound to this one, but for `sql`. */
type Tenants<Domain extends AnyDomain> = { [Name in keyof Domain]: TenantOf<Domain[Name]> }[keyof Domain];

/** The first parameter of a function that only reads: all that it reads is of one snapshot. */
export type GivenToRead<Domain extends AnyDomain> = {
  [Name in keyof Domain]: Pick<CollectionInTransaction<Domain[Name]>, 'get' | 'list'>;
} & { sql: Sql; tenant: Tenants<Domain> };

/**
 * The rows of a statement that only reads, by the names of columns: integers are bigint. Its values are bound. Of SQLite, a boolean is 0n or 1n,
 * and what is kept as `number` a text.
 */
export type Sql = <Row>(
  texts: TemplateStringsArray,
  ...values: readonly (bigint | number | string | boolean | null)[]
) => Asking<Row[]>;

export interface Transaction<Input, Output> {
  readonly run: (given: never, input: Input) => Asking<Output>;
  readonly isReading?: true;
}

/** By the names of collections, and their own. */
export type AnyTransactions = Readonly<Record<string, Readonly<Record<string, Transaction<never, unknown>>>>>;

/** The transactions of a domain, and the URL of the module from which the thread that writes loads them. */
export interface Transactions {
  all: AnyTransactions;
  source: string;
}
export const NO_TRANSACTIONS: Transactions = { all: {}, source: '' };

/** The parts that are made of a domain and its contract. Without shapes, records are what the columns take. */
export interface OfDomain<Domain extends AnyDomain = AnyDomain> {
  shapes?: Shapes<Domain> | undefined;
  transactions?: Transactions;
}

export interface TransactionsModule {
  transactions: Transactions;
  loadShapes(): Awaitable<Shapes>;
}

/** Transactions as handlers call them, beside the methods of the collections. */
export type CallsOf<All> = {
  [Collection in keyof All]: {
    [Name in keyof All[Collection]]: All[Collection][Name] extends Transaction<infer Input, infer Output>
      ? (input: Input, how?: { idempotency?: Idempotency | undefined }) => Promise<Output>
      : never;
  };
};

/**
 * A transaction of the domain: `transaction(function* ({ items }, input: Input) { … })`, with `yield*` before each call. What it returns is
 * plain data; where that is `refused`, or anything is thrown, nothing was done. It may be run again: it changes nothing else.
 */
export const transactionOf =
  <Domain extends AnyDomain>() =>
  <Input, Output>(run: (given: Given<Domain>, input: Input) => Asking<Output>): Transaction<Input, Output> => ({
    run: run as Transaction<Input, Output>['run'],
  });

/** As `transactionOf`, of a function that only reads: it waits for no writes, and its answer may be any value. */
export const readingOf =
  <Domain extends AnyDomain>() =>
  <Input, Output>(run: (given: GivenToRead<Domain>, input: Input) => Asking<Output>): Transaction<Input, Output> => ({
    run: run as Transaction<Input, Output>['run'],
    isReading: true,
  });

export const refused = <const Why extends string>(why: Why): Refused<Why> =>
  new Refusal(why) as Refused<string> & Refused<Why>;

/** How a database runs them. */
export interface Running {
  now: string;
  /** Whether a change that is refused, or a transaction, can be taken back; otherwise all is run again where it can. */
  isSafe: boolean;
  /** Whether a change is taken back by a savepoint of its own. */
  hasSavepoint(change: Change): boolean;
  /** Why a change is refused; undefined where the error is another. */
  toRefusal(error: unknown, change: Change): string | undefined;
}

export class Calls {
  readonly #changes: Changes;
  readonly #all: AnyTransactions;
  readonly #kept: ReadonlyMap<unknown, Kept>;

  constructor(kept: readonly Kept[], changes: Changes, all: AnyTransactions) {
    this.#changes = changes;
    this.#all = all;
    this.#kept = new Map(kept.map((one) => [one.table.collection, one]));
  }

  /** @throws Error where it fails: then it is to be taken back */
  *run(made: Call, running: Running): Asking<Outcome> {
    const steps = new Steps(this.#changes, running);
    const output = yield* this.#start(made, steps, { now: running.now });
    if (!(output instanceof Refusal)) return { text: toOutput(output) };
    if (steps.isDirty && !running.isSafe) throw new Error(`${made.call} is to be taken back`);
    return { refused: output.refused };
  }

  /** Runs a function that only reads. */
  read(made: Call): Asking<unknown> {
    return this.#start(made, new Steps(this.#changes), {});
  }

  *#start({ collection, call, input, tenant }: Call, steps: Steps, more: Fields): Asking<unknown> {
    // Each function takes a few of the collections.
    const get = (own: Fields, name: string | symbol) => {
      const kept = this.#kept.get(name);
      if (!kept) return own[String(name)];
      if (kept.table.tenant && tenant === undefined)
        throw new Error(`${call} is of ${collection}, which has no tenants: it cannot have ${String(name)}`);
      return steps.toMethods(kept, kept.table.tenant && tenant);
    };
    const given = new Proxy<Fields>({ ...more, sql: steps.sql, tenant }, { get });
    const output = yield* this.#find(collection, call).run(given as never, input);
    steps.check(call);
    return output;
  }

  #find(collection: string, call: string): Transaction<unknown, unknown> {
    return this.#all[collection]?.[call] as Transaction<unknown, unknown>;
  }
}

/** The steps of one run of a transaction. */
class Steps {
  isDirty = false;
  readonly #changes: Changes;
  readonly #running: Running | undefined;
  readonly #failures: unknown[] = [];
  /** Calls that have not ended. */
  #open = 0;

  constructor(changes: Changes, running?: Running) {
    this.#changes = changes;
    this.#running = running;
  }

  /** The methods of a collection; those that change it, only where the function may. */
  toMethods(kept: Kept, tenant: unknown): object {
    const { table, shape } = kept;
    const get = (id: unknown) =>
      this.#count(this.#changes.read(table, id, tenant), (text) => (text === undefined ? undefined : shape.read(text)));
    const list = (asked: PageQuery) => {
      const query = table.tenant ? { ...asked, [table.tenant.name]: tenant } : asked;
      return this.#count(readPage(table, query, this.#changes.dialect), (page) => toPage(page, shape));
    };
    if (!this.#running) return { get, list };
    const writing = new Writing(kept, tenant);
    const run = (toChange: () => Change) => {
      const change = toChange();
      return this.#count(this.#run(change), (outcome) => writing.toAnswer(change, outcome));
    };
    return { get, list, ...buildMethods(writing, run) };
  }

  readonly sql = (texts: readonly string[], ...values: unknown[]) =>
    this.#count(this.#changes.select(texts, values), (rows) => rows);

  /** A call that has failed stays so, even where the function has caught it. @throws Error */
  check(call: string): void {
    if (this.#failures.length > 0) throw this.#failures[0];
    if (this.#open > 0) throw new Error(`${call} has a call without \`yield*\``);
  }

  #count<Found, Answer>(asking: Asking<Found>, toAnswer: (found: Found) => Answer): Asking<Answer> {
    this.#open++;
    return this.#end(asking, toAnswer);
  }

  *#end<Found, Answer>(asking: Asking<Found>, toAnswer: (found: Found) => Answer): Asking<Answer> {
    try {
      const found = yield* asking;
      this.#open--;
      return toAnswer(found);
    } catch (error) {
      this.#failures.push(error);
      throw error;
    }
  }

  *#run(change: Change): Asking<Outcome> {
    const running = this.#running as Running;
    const { now, isSafe, toRefusal } = running;
    const hasSavepoint = running.hasSavepoint(change);
    if (hasSavepoint) yield toAsk('SAVEPOINT step');
    try {
      const outcome = yield* this.#changes.run(change, now);
      this.isDirty ||= outcome.text !== undefined;
      if (hasSavepoint) yield toAsk('RELEASE SAVEPOINT step');
      return outcome;
    } catch (error) {
      const why = isSafe ? toRefusal(error, change) : undefined;
      if (why === undefined) throw error;
      if (hasSavepoint) yield toAsk('ROLLBACK TO SAVEPOINT step');
      return { refused: why };
    }
  }
}

const toAsk = (sql: string): Ask => ({ sql, values: [] });

/** Before a bigint, and before any text: what a client has sent is never taken for a number. */
const [INT64, TEXT] = ['n', 's'];

/** Any plain data as JSON. */
function toOutput(output: unknown): string {
  return JSON.stringify({ output }, (_name, value) => {
    if (typeof value === 'bigint') return INT64 + value;
    return typeof value === 'string' ? TEXT + value : value;
  });
}

/** The result of a call. */
export function fromOutput({ text, refused: why }: Outcome): unknown {
  if (why !== undefined) return new Refusal(why);
  const { output } = JSON.parse(text as string, (_name, value) => {
    if (typeof value !== 'string') return value;
    return value.startsWith(INT64) ? BigInt(value.slice(INT64.length)) : value.slice(TEXT.length);
  });
  return output;
}
