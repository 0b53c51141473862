/** What a domain keeps, as handlers see it. Records are what the contract says. */
import type { JsonText } from '../json/json-text.ts';
import type { Asking } from './asking.ts';

/** Some stores answer at once, others after a round trip; `await` takes both. */
export type Awaitable<T> = T | Promise<T>;

/** The fields of a record, by name. */
export type Fields = Record<string, unknown>;

/** The answers of the methods: handlers wait for it, a transaction asks for it by `yield*`. */
interface Answers<Answer> {
  promise: Promise<Answer>;
  steps: Asking<Answer>;
}
/** How a change is made there: a transaction is once as a whole. */
interface Hows<Found> {
  promise: HowToChange<Found>;
  steps: { if?: HowToChange<Found>['if'] };
}
type Kind = 'promise' | 'steps';

/** The methods that change records. */
export interface Changing<Found, New, Id, Conflicts, Referenced, As extends Kind> {
  /** Adds a record. What it leaves out, and the store sets, is set. */
  create(record: New, how?: Omit<Hows<Found>[As], 'if'>): Answers<Found | Conflicts>[As];
  /** Adds all of the records, in their order, or none. */
  createAll(records: readonly New[], how?: Omit<Hows<Found>[As], 'if'>): Answers<Found[] | Conflicts>[As];
  /**
   * Changes some fields. Null takes an optional one away; `{ add: -5n }` adds to a number. Of a schema with rules over several fields, use
   * `replace`. Undefined where there is none with this id, as `replace` and `delete`.
   */
  update<const Changes extends ChangesOf<New>, const How extends Hows<Found>[As]>(
    id: Id,
    changes: Changes & { [Name in Exclude<keyof Changes, keyof New>]: never },
    how?: How,
  ): Answers<Found | undefined | Conflicts | OutOfRangeIf<Changes> | ChangedIf<How>>[As];
  replace<const How extends Hows<Found>[As]>(
    id: Id,
    record: New,
    how?: How,
  ): Answers<Found | undefined | Conflicts | ChangedIf<How>>[As];
  /** Replaces the record with this id, which was given with it, or creates one, and says which; with a condition it creates none. */
  put<const How extends Hows<Found>[As]>(
    id: Id,
    record: New,
    how?: How,
  ): Answers<Put<Found> | Conflicts | (How extends { if: object } ? Refused<'changed'> | undefined : never)>[As];
  /** Whether there was one. An int64 id that the store has given is never given again. */
  delete<const How extends Hows<Found>[As]>(id: Id, how?: How): Answers<boolean | Referenced | ChangedIf<How>>[As];
}

/**
 * Every method throws StoreUnavailable where the store cannot be reached or written, UnfitRecord, before anything is stored, where the
 * contract does not allow the record, and KeyReused where `once` was sent before with another request. Writes resolve when they are durable.
 */
export interface Collection<
  Found = Fields,
  New = Fields,
  Lists = AnyLists,
  Id = unknown,
  Conflicts = never,
  Referenced = never,
> extends Changing<Found, New, Id, Conflicts, Referenced, 'promise'> {
  get(id: Id): Awaitable<JsonText<Found> | undefined>;
  /** Undefined where `after` is no cursor that this list has given out. A member that is no filter does not compile. */
  list<Query extends PageQuery<Found, Lists>>(
    query: Query & { [Name in Exclude<keyof Query, keyof PageQuery<Found, Lists>>]: never },
  ): Awaitable<Page<Found> | undefined>;
}

export type AnyCollection = Collection;

/** How a change is made: only where the record has these values, and once for each key. */
export interface HowToChange<Found = Fields> {
  /** A list is met by any of its values. */
  if?: { [Name in keyof Found]?: Found[Name] | AnyOf<Found[Name]> | undefined } | undefined;
  idempotency?: Idempotency | undefined;
}
type AnyOf<Value> = [Exclude<Value, null | undefined>] extends [bigint | string | number | boolean]
  ? readonly Value[]
  : never;
export interface Put<Found> {
  record: Found;
  isNew: boolean;
}
type ChangedIf<How> = How extends { if: object } ? Refused<'changed'> : never;
/** Where something is added to a number, which could leave its type. */
type OutOfRangeIf<Changes> = {
  [Name in keyof Changes]: Changes[Name] extends { add: unknown } ? true : never;
}[keyof Changes] extends never
  ? never
  : Refused<'out_of_range'>;
export type ChangesOf<New> = { [Name in keyof New]?: Change<New[Name]> | undefined };
type Change<Value> =
  | Exclude<Value, undefined>
  | (undefined extends Value ? null : never)
  | ([Exclude<Value, null | undefined>] extends [bigint]
      ? { add: bigint }
      : [Exclude<Value, null | undefined>] extends [number]
        ? { add: number }
        : never);

/** Why a change was refused: nothing was done. */
export interface Refused<Why extends string = string> {
  readonly refused: Why;
}
export const isRefused = <T>(value: T): value is Extract<T, Refused> => value instanceof Refusal;

export class Refusal implements Refused {
  readonly refused: string;

  constructor(why: string) {
    this.refused = why;
  }
}

/**
 * A page of at most `limit` records, 1 or more, that have these values, after a cursor; by the order in which records were added, or by one that
 * the description declares. Where a range of another field than that of the order is asked for, a page may have fewer, and a next one.
 */
export type PageQuery<Found = Fields, Lists = AnyLists> = {
  limit: number;
  after?: string | undefined;
} & {
  [Name in NamesIn<Lists, 'equal'> | NamesIn<Lists, 'range'>]?:
    | (Name extends NamesIn<Lists, 'equal'> ? ValueOf<Found, Name> : never)
    | (Name extends NamesIn<Lists, 'range'> ? RangeOf<ValueOf<Found, Name>> : never)
    | undefined;
} & { [Name in NamesIn<Lists, 'prefix'> as `${Name}Begins`]?: string | undefined } & (Lists extends {
    orders: infer Orders;
  }
    ? { order?: keyof Orders | undefined }
    : unknown);
interface AnyLists {
  equal: readonly string[];
}
type NamesIn<Lists, Kind extends string> = Lists extends { [Given in Kind]: readonly (infer Name)[] }
  ? Name & string
  : never;
type ValueOf<Found, Name> = Name extends keyof Found ? Exclude<Found[Name], null | undefined> : unknown;
/** From a value on, below another. */
interface RangeOf<Value> {
  from?: Value | undefined;
  below?: Value | undefined;
}

export interface Page<Found = Fields> {
  body: JsonText<Found[]>;
  /** The cursor of the next page; absent on the last page. */
  next?: string | undefined;
}

/** What lets a change be sent again and be done once. */
export interface Idempotency {
  /** The owner of the key, as the id of an API key or a tenant: others may choose the same. */
  readonly caller: string;
  /** Its operationId. */
  readonly operation: string;
  /** Made up by the client, another one for each change. */
  readonly key: string;
  /** For how long the key is known, in hours. */
  readonly hours: number;
  /** Of the parameters and the body of the request: another request with the same key is refused. */
  readonly digest: string;
  /** Set by the store: whether it was done before, and the answer is that of then. */
  isReplayed?: boolean;
}

/** The key was sent before with another request. */
export class KeyReused extends Error {
  override name = 'KeyReused';
}
