/** The interface of collections for handlers. Records have the types of the contract. */
import type { JsonText } from '../json/json-text.ts';

/** Some stores return a value, others a promise; `await` takes both. */
export type Awaitable<T> = T | Promise<T>;

/** The fields of a record, by name. */
export type Fields = Record<string, unknown>;

/** A statement that a transaction yields. Its runner returns the rows, at once or after a round trip. */
export interface SqlStep {
  sql: string;
  /** Absent for a script of several statements. */
  values?: unknown[];
  /** Whether it is a team's own SQL: it may only read, and its rows are objects by column names. */
  isReadOnly?: boolean;
}

export type SqlSteps<Result> = Generator<SqlStep, Result, unknown[][]>;

/** The results of the methods: a promise for handlers, steps for `yield*` in a transaction. */
interface Answers<Answer> {
  promise: Promise<Answer>;
  steps: SqlSteps<Answer>;
}
/** The options of the methods. A transaction has an `Idempotency-Key` only as a whole. */
interface Hows<Found> {
  promise: HowToChange<Found>;
  steps: { if?: HowToChange<Found>['if'] };
}
type Kind = 'promise' | 'steps';

/** A field that no column keeps would be gone in silence, so it does not compile. */
type Only<Given, New> = { [Name in Exclude<keyof Given & string, keyof New>]: NoColumn<Name> };
interface NoColumn<Name> {
  readonly keeps: Name;
}

/** The methods that change records. */
export interface Changing<Found, New, Id, Conflicts, Referenced, As extends Kind> {
  /** Adds a record, with the fields that the store sets. */
  create<Given extends New>(
    record: Given & Only<Given, New>,
    how?: Omit<Hows<Found>[As], 'if'>,
  ): Answers<Found | Conflicts>[As];
  /** Adds all records, in this order, or none. */
  createAll<Given extends New>(
    records: readonly (Given & Only<Given, New>)[],
    how?: Omit<Hows<Found>[As], 'if'>,
  ): Answers<Found[] | Conflicts>[As];
  /**
   * Changes some fields. Null removes an optional field, objects are merged (RFC 7396), and `{ add: -5n }` adds to a number. If the schema
   * has rules over several fields, use `replace`. Like `replace`, returns undefined if there is no record with this id.
   */
  update<const Changes extends ChangesOf<New>, const How extends Hows<Found>[As]>(
    id: Id,
    changes: Changes & Only<Changes, New>,
    how?: How,
  ): Answers<Found | undefined | Conflicts | OutOfRangeIf<Changes> | UnfitIf<Changes> | ChangedIf<How>>[As];
  replace<Given extends New, const How extends Hows<Found>[As]>(
    id: Id,
    record: Given & Only<Given, New>,
    how?: How,
  ): Answers<Found | undefined | Conflicts | ChangedIf<How>>[As];
  /** Replaces the record with this id, or creates it, and says which. For ids that clients choose. With a condition, it does not create. */
  put<Given extends New, const How extends Hows<Found>[As]>(
    id: Id,
    record: Given & Only<Given, New>,
    how?: How,
  ): Answers<Put<Found> | Conflicts | (How extends { if: object } ? Refused<'changed'> | undefined : never)>[As];
  /** Returns whether there was a record. An int64 id that the store has set is never used again. */
  delete<const How extends Hows<Found>[As]>(id: Id, how?: How): Answers<boolean | Referenced | ChangedIf<How>>[As];
}

/**
 * Every method throws StoreUnavailable if the store cannot be reached or written; UnfitRecord, before anything is stored, if the record
 * breaks the contract; KeyReused if the `Idempotency-Key` was sent before with another request; AlreadyDone if its stored answer breaks
 * the contract by now, and the record is gone; InvalidValue, if the record has a longer text than an index can hold. Writes resolve when
 * they are durable.
 */
export interface Collection<
  Found = Fields,
  New = Fields,
  Lists = AnyLists,
  Id = unknown,
  Conflicts = never,
  Referenced = never,
  Shown = Found,
> extends Changing<Found, New, Id, Conflicts, Referenced, 'promise'> {
  /** The record as clients see it, as text that is sent unchanged. */
  get(id: Id): Awaitable<JsonText<Shown> | undefined>;
  /** The whole record, with its internal columns. */
  read(id: Id): Awaitable<Found | undefined>;
  /** Undefined if `after` is no cursor of this list. A property that is no filter does not compile. */
  list<const Query extends PageQuery<Found, Lists>>(
    query: Query & NoOther<Query, PageQuery<Found, Lists>>,
  ): Awaitable<PageOf<Query, Shown>>;
  /** All records of a list, as text. @throws Error if there are more than `most` */
  all<const Query extends AllQuery<Found, Lists>>(
    query: Query & NoOther<Query, AllQuery<Found, Lists>>,
  ): Awaitable<JsonText<Shown[]>>;
}

export type AnyCollection = Collection;

/** Options of a change: a condition on the record, and an `Idempotency-Key`. */
export interface HowToChange<Found = Fields> {
  /** The values that the record must have; a list matches any of its values. */
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
/** Adding to a number may leave the range of its type. */
type OutOfRangeIf<Changes> = true extends IsSum<Changes[keyof Changes]> ? Refused<'out_of_range'> : never;
type IsSum<Value> = Value extends { add: unknown } ? true : never;
/** An object may no longer fit its schema when it is merged. */
type UnfitIf<Changes> = true extends IsMerged<Changes[keyof Changes]> ? Refused<'unfit'> : never;
type IsMerged<Value> = unknown extends Value
  ? true
  : Value extends readonly unknown[] | { add: unknown }
    ? never
    : Value extends object
      ? true
      : never;
export type ChangesOf<New> = { [Name in keyof New]?: Change<New[Name]> | undefined };
/** A field that the store sets is `undefined`: nobody changes it. */
type Change<Value> = [Exclude<Value, undefined>] extends [never]
  ? never
  :
      | PatchOf<Exclude<Value, undefined>>
      | (undefined extends Value ? null : never)
      | Sum<Exclude<Value, null | undefined>>;
type Sum<Value> = [Value] extends [never]
  ? never
  : [Value] extends [bigint]
    ? { add: bigint }
    : [Value] extends [number]
      ? { add: number }
      : never;

/** The fields of an object that change. Null removes an optional one. */
type PatchOf<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Name in keyof Value]?: InPatch<Value[Name]> | (string extends Name ? null : never) | undefined }
    : Value;
type InPatch<Value> = PatchOf<Exclude<Value, undefined>> | (undefined extends Value ? null : never);

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
 * A page of at most `limit` records (at least 1) with these values, after a cursor, in the order in which records were added, or in a
 * declared order. With a range on another field than the order's, a page may be shorter although there is a next one.
 */
export type PageQuery<Found = Fields, Lists = AnyLists> = {
  limit: number;
  after?: string | undefined;
} & {
  [Name in NamesIn<Lists, 'equal'> | NamesIn<Lists, 'range'>]?:
    | (Name extends NamesIn<Lists, 'equal'> ? ValueOf<Found, Name> : never)
    | (Name extends NamesIn<Lists, 'range'> ? RangeOf<ValueOf<Found, Name>> : never)
    | undefined;
} & { [Name in NamesIn<Lists, 'always'>]: ValueOf<Found, Name> } & (Lists extends { skip: number }
    ? { skip?: number | bigint | undefined }
    : unknown) &
  (Lists extends { count: true } ? { count?: boolean | undefined } : unknown) & {
    [Name in NamesIn<Lists, 'prefix'> as `${Name}Begins`]?: string | undefined;
  } & (Lists extends {
    orders: infer Orders;
  }
    ? { order?: keyof Orders | undefined }
    : unknown);
interface AnyLists {
  equal: readonly string[];
}
/** The query of a list that is read as a whole. */
export type AllQuery<Found = Fields, Lists = AnyLists> = Omit<
  PageQuery<Found, Lists>,
  'limit' | 'after' | 'skip' | 'count'
> & { most: number };
export type NoOther<Query, Known> = { [Name in Exclude<keyof Query, keyof Known>]: never };
/** Undefined only with a cursor, which may belong to another list. With `count`, it has the number of all records of the list. */
export type PageOf<Query, Found> = [Query] extends [never] ? Page<Found> | undefined : PageFor<Query, Found>;
type PageFor<Query, Found> =
  | (Page<Found> & (Query extends { count: true } ? { total: number } : unknown))
  | ('after' extends keyof Query ? undefined : never);
type NamesIn<Lists, Kind extends string> = Lists extends { [Given in Kind]: readonly (infer Name)[] }
  ? Name & string
  : never;
type ValueOf<Found, Name> = Name extends keyof Found ? Exclude<Found[Name], null | undefined> : unknown;
/** `from` is inclusive, `below` exclusive. */
interface RangeOf<Value> {
  from?: Value | undefined;
  below?: Value | undefined;
}

export interface Page<Found = Fields> {
  body: JsonText<Found[]>;
  /** The cursor of the next page; absent on the last page. */
  next?: string | undefined;
}

/** The `Idempotency-Key` of a change: however often it is sent, the change is done once. */
export interface Idempotency {
  /** The owner of the key, as the id of an API key, or a tenant: another caller may choose the same key. */
  readonly caller: string;
  /** The operationId. */
  readonly operation: string;
  /** Chosen by the client, a new one for each change. */
  readonly key: string;
  /** How long the key is remembered, in hours. */
  readonly hours: number;
  /** The digest of the request's parameters and body: another request with the same key is refused. */
  readonly digest: string;
  /** Set by the store: whether the change was done before, and this is its answer of then. */
  isReplayed?: boolean | undefined;
}

/** An `Idempotency-Key` that passes on what the store sets. A class: V8 makes a dictionary of each literal with accessors. */
export class ForwardedKey implements Idempotency {
  readonly caller: string;
  readonly operation: string;
  readonly key: string;
  readonly hours: number;
  readonly digest: string;
  readonly #target: Pick<Idempotency, 'isReplayed'>;

  constructor({ caller, operation, key, hours, digest }: Idempotency, target: Pick<Idempotency, 'isReplayed'>) {
    this.caller = caller;
    this.operation = operation;
    this.key = key;
    this.hours = hours;
    this.digest = digest;
    this.#target = target;
  }

  get isReplayed(): boolean | undefined {
    return this.#target.isReplayed;
  }

  set isReplayed(isReplayed: boolean | undefined) {
    this.#target.isReplayed = isReplayed;
  }
}

/** The key was sent before with another request. */
export class KeyReused extends Error {
  override name = 'KeyReused';
}

/** The change was made by an earlier request with the key, and its answer can no longer be given. */
export class AlreadyDone extends Error {
  override name = 'AlreadyDone';
}

/** The database cannot take a value of a request: it is answered with 400. The code distinguishes it from other errors, also across threads. */
export class InvalidValue extends Error {
  override name = 'InvalidValue';
  readonly code = 'INVALID_VALUE';
}

export const isInvalidValue = (error: unknown): error is Error =>
  error instanceof Error && (error as { code?: unknown }).code === 'INVALID_VALUE';
