/** The interface of collections, for handlers. Records have the contract's types. */
import type { JsonText } from '../json/json-text.ts';

/** The result of a method: a value in some stores, a promise in others. `await` accepts both. */
export type Awaitable<T> = T | Promise<T>;

/** The fields of a record, by name. */
export type Fields = Record<string, unknown>;

/** A statement that a transaction yields. The driver that runs it returns the rows, at once or after a round trip. */
export interface SqlStep {
  sql: string;
  /** The values to bind; absent for a script of several statements. */
  values?: unknown[];
  /** Whether the statement is a team's own SQL. If so, it may only read, and its rows are objects with the names of columns. */
  isReadOnly?: boolean;
}

export type SqlSteps<Result> = Generator<SqlStep, Result, unknown[][]>;

/** The result of a method: a promise in a handler, steps for `yield*` in a transaction. */
interface Answers<Answer> {
  promise: Promise<Answer>;
  steps: SqlSteps<Answer>;
}
/** The options of a method. In a transaction, they do not include an `Idempotency-Key`: one key covers the whole transaction. */
interface Hows<Found> {
  promise: HowToChange<Found>;
  steps: { if?: HowToChange<Found>['if'] };
}
type Kind = 'promise' | 'steps';

/** A field without a column would be lost silently, so it is a compile error. */
type Only<Given, New> = { [Name in Exclude<keyof Given & string, keyof New>]: NoColumn<Name> };
interface NoColumn<Name> {
  readonly keeps: Name;
}

/** The methods that change records. */
export interface Changing<Found, New, Id, Conflicts, Referenced, As extends Kind, Causes = NoCauses> {
  /** Adds a record, and returns it with the fields that the store sets. */
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
   * Changes some fields. Null removes an optional field, objects are merged (RFC 7396), and `{ add: -5n }` adds to a number. If a rule of
   * the schema covers several fields, use `replace` instead. `update` and `replace` return undefined if the record does not exist.
   */
  update<const Changes extends ChangesOf<New>, const How extends Hows<Found>[As]>(
    id: Id,
    changes: Changes & Only<Changes, New>,
    how?: How,
  ): Answers<
    | Found
    | undefined
    | ConflictsIf<Changes, Conflicts, Causes>
    | OutOfRangeIf<Changes>
    | UnfitIf<Changes>
    | ChangedIf<How>
  >[As];
  replace<Given extends New, const How extends Hows<Found>[As]>(
    id: Id,
    record: Given & Only<Given, New>,
    how?: How,
  ): Answers<Found | undefined | Conflicts | ChangedIf<How>>[As];
  /**
   * Replaces the record with this id, or creates it; `isNew` is true if it was created. The method exists only if clients choose the ids. A
   * call with a condition never creates a record.
   */
  put<Given extends New, const How extends Hows<Found>[As]>(
    id: Id,
    record: Given & Only<Given, New>,
    how?: How,
  ): Answers<Put<Found> | Conflicts | (How extends { if: object } ? Refused<'changed'> | undefined : never)>[As];
  /** Deletes a record, and returns whether it existed. An int64 id that the store has set is never used again. */
  delete<const How extends Hows<Found>[As]>(id: Id, how?: How): Answers<boolean | Referenced | ChangedIf<How>>[As];
}

/**
 * A collection. Writes resolve when they are durable. Every method may throw these errors:
 * - StoreUnavailable if the store cannot be reached or written
 * - UnfitRecord if the record breaks the contract; then nothing is stored
 * - KeyReused if the `Idempotency-Key` was sent before with another request
 * - AlreadyDone if the contract no longer allows the stored answer of the key, and the record is gone
 * - InvalidValue if the record contains a text that the database cannot store, or that is too long for an index
 */
export interface Collection<
  Found = Fields,
  New = Fields,
  Lists = AnyLists,
  Id = unknown,
  Conflicts = never,
  Referenced = never,
  Shown = Found,
  Causes = NoCauses,
> extends Changing<Found, New, Id, Conflicts, Referenced, 'promise', Causes> {
  /** Reads the record as clients see it. Replies send the resulting text unchanged. */
  get(id: Id): Awaitable<JsonText<Shown> | undefined>;
  /** Reads the whole record, with its internal columns. */
  read(id: Id): Awaitable<Found | undefined>;
  /** Reads a page. Returns undefined if `after` is not a cursor of this list. Unknown filters are compile errors. */
  list<const Query extends PageQuery<Found, Lists>>(
    query: Query & NoOther<Query, PageQuery<Found, Lists>>,
  ): Awaitable<PageOf<Query, Shown>>;
  /** Reads all records of a list, as text. @throws Error if there are more than `most` */
  all<const Query extends AllQuery<Found, Lists>>(
    query: Query & NoOther<Query, AllQuery<Found, Lists>>,
  ): Awaitable<JsonText<Shown[]>>;
}

export type AnyCollection = Collection;

/** The options of a change: a condition for the record, and an `Idempotency-Key`. */
export interface HowToChange<Found = Fields> {
  /** The values that the record must contain. A list of values matches if the record contains one of them. */
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
/** The default for `Causes`: no refusal is limited to changes of certain fields. */
type NoCauses = Record<never, never>;
/** The refusals that a change of the given fields can cause. */
type ConflictsIf<Changes, Conflicts, Causes> =
  Conflicts extends Refused<infer Why>
    ? Why extends keyof Causes
      ? [Causes[Why] & (Changes extends unknown ? keyof Changes : never)] extends [never]
        ? never
        : Conflicts
      : Conflicts
    : never;
/** The refusal of a sum that is outside the range of the field's type. */
type OutOfRangeIf<Changes> = true extends IsSum<Changes[keyof Changes]> ? Refused<'out_of_range'> : never;
type IsSum<Value> = Value extends { add: unknown } ? true : never;
/** The refusal of a merged object that no longer fits its schema. */
type UnfitIf<Changes> = true extends IsMerged<Changes[keyof Changes]> ? Refused<'unfit'> : never;
type IsMerged<Value> = unknown extends Value
  ? true
  : Value extends readonly unknown[] | { add: unknown }
    ? never
    : Value extends object
      ? true
      : never;
export type ChangesOf<New> = { [Name in keyof New]?: Change<New[Name]> | undefined };
/** The type of a field in an update. The type is `undefined` for a field that only the store may set. */
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

/** The type of a patch: the changed fields of an object. Null removes an optional field. */
type PatchOf<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Name in keyof Value]?: InPatch<Value[Name]> | (string extends Name ? null : never) | undefined }
    : Value;
type InPatch<Value> = PatchOf<Exclude<Value, undefined>> | (undefined extends Value ? null : never);

/** The reason why a change was refused. A refused change has no effect. */
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
 * The query of a page: at most `limit` records (at least 1) that have the given values and come after a cursor. The records are in a
 * declared order, or in the order of their creation. If the query orders by one field and restricts the range of another, a page may be
 * shorter than `limit` although a next page follows.
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
/** The query of a whole list. */
export type AllQuery<Found = Fields, Lists = AnyLists> = Omit<
  PageQuery<Found, Lists>,
  'limit' | 'after' | 'skip' | 'count'
> & { most: number };
export type NoOther<Query, Known> = { [Name in Exclude<KeyOf<Query>, keyof Known>]: never };
type KeyOf<T> = T extends unknown ? keyof T : never;
/**
 * The type of a page. The result can be undefined only if the query has a cursor, since the cursor may belong to another list. With
 * `count`, the result includes the total.
 */
export type PageOf<Query, Found> = [Query] extends [never] ? Page<Found> | undefined : PageFor<Query, Found>;
type PageFor<Query, Found> =
  | (Page<Found> & (Query extends { count: true } ? { total: number } : unknown))
  | ('after' extends KeyOf<Query> ? undefined : never);
type NamesIn<Lists, Kind extends string> = Lists extends { [Given in Kind]: readonly (infer Name)[] }
  ? Name & string
  : never;
type ValueOf<Found, Name> = Name extends keyof Found ? Exclude<Found[Name], null | undefined> : unknown;
/** A range: `from` and `upTo` are inclusive, `above` and `below` are exclusive. */
interface RangeOf<Value> {
  from?: Value | undefined;
  above?: Value | undefined;
  below?: Value | undefined;
  upTo?: Value | undefined;
}

export interface Page<Found = Fields> {
  body: JsonText<Found[]>;
  /** The cursor of the next page; absent on the last page. */
  next?: string | undefined;
}

/** The `Idempotency-Key` of a change. However often a client sends it, the change takes effect once. */
export interface Idempotency {
  /** The owner of the `Idempotency-Key`: the id of an API key, or a tenant. Other owners may choose the same key. */
  readonly caller: string;
  /** The operationId. */
  readonly operation: string;
  /** The key. The client chooses a new one for each change. */
  readonly key: string;
  /** The hours that the key is remembered. */
  readonly hours: number;
  /** The digest of the request's parameters and body, to recognise another request with the same key. */
  readonly digest: string;
  /** The store sets this to true if the change was made earlier, so that the answer is the stored one. */
  isReplayed?: boolean | undefined;
}

/**
 * A copy of an `Idempotency-Key`. When the store sets `isReplayed` of the copy, the original is also set. A class is used, because V8 turns
 * each object literal with accessors into a slow dictionary.
 */
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

/** The error for an `Idempotency-Key` that an earlier, different request has used. */
export class KeyReused extends Error {
  override name = 'KeyReused';
}

/** The error for a repeated request if its first answer can no longer be reproduced. The first request made the change. */
export class AlreadyDone extends Error {
  override name = 'AlreadyDone';
}

/**
 * The error for a value that the database cannot store; the reply is a 400. `code` identifies the error even if it comes from another
 * thread.
 */
export class InvalidValue extends Error {
  override name = 'InvalidValue';
  readonly code = 'INVALID_VALUE';
}

export const isInvalidValue = (error: unknown): error is Error =>
  error instanceof Error && (error as { code?: unknown }).code === 'INVALID_VALUE';
