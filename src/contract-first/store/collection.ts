/** The interface of collections, which handlers use. The contract defines the types of the records. */
import type { JsonText } from '../json/json-text.ts';

/** The result of a method: some stores return the value itself, others a promise of it. `await` accepts both. */
export type Awaitable<T> = T | Promise<T>;

/** The fields of a record, by name. */
export type Fields = Record<string, unknown>;

/**
 * A statement that a generator yields. The driver executes the statement and resumes the generator with the rows. In
 * SQLite this happens immediately; in PostgreSQL it takes a round trip.
 */
export interface SqlStep {
  sql: string;
  /** The values to bind; absent if `sql` is a script of several statements. */
  values?: unknown[];
  /**
   * Whether a team has written the SQL. If so, the statement may only read, and each row is an object with the names of
   * the columns.
   */
  isReadOnly?: boolean;
}

export type SqlSteps<Result> = Generator<SqlStep, Result, unknown[][]>;

/** How a method returns its result: handlers get `promise`; transactions get `steps`, which they run with `yield*`. */
interface Answers<Answer> {
  promise: Promise<Answer>;
  steps: SqlSteps<Answer>;
}
/**
 * The types of the options of a method that changes records: `promise` is for calls by handlers, `steps` for calls in
 * transactions. `steps` omits the `Idempotency-Key`, because one key covers the whole transaction.
 */
interface Hows<Found> {
  promise: HowToChange<Found>;
  steps: { if?: HowToChange<Found>['if'] };
}
type Kind = 'promise' | 'steps';

/**
 * Makes each unknown field of a passed record a compile error. The table lacks a column for such a field, so the store
 * would silently lose its value.
 */
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
  /** Adds all records in the given order. If one record cannot be added, none of them is added. */
  createAll<Given extends New>(
    records: readonly (Given & Only<Given, New>)[],
    how?: Omit<Hows<Found>[As], 'if'>,
  ): Answers<Found[] | Conflicts>[As];
  /**
   * Changes some fields of a record. Null removes an optional field, objects are merged (RFC 7396), and `{ add: -5n }`
   * adds to a number. If a rule of the schema covers several fields, every update throws UnfitRecord: use `replace`
   * instead. `update` and `replace` return undefined if the record does not exist.
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
   * Replaces the record with this id, or creates it if it does not exist. `isNew` of the result is true if the record
   * was created. Only collections with ids that clients choose have this method. A call with a condition (`if`) never
   * creates a record.
   */
  put<Given extends New, const How extends Hows<Found>[As]>(
    id: Id,
    record: Given & Only<Given, New>,
    how?: How,
  ): Answers<Put<Found> | Conflicts | (How extends { if: object } ? Refused<'changed'> | undefined : never)>[As];
  /**
   * Deletes a record, and returns whether it existed. The store never assigns the int64 id of a deleted record again.
   */
  delete<const How extends Hows<Found>[As]>(id: Id, how?: How): Answers<boolean | Referenced | ChangedIf<How>>[As];
}

/**
 * A collection. The promise of a write resolves when the write is durable. Every method may throw these errors:
 * - StoreUnavailable if the store cannot be reached or written
 * - UnfitRecord if the record does not fit the schema in the contract; then nothing is stored
 * - KeyReused if an earlier, different request used the same `Idempotency-Key`
 * - AlreadyDone if a request is repeated with its `Idempotency-Key`, but its stored answer no longer fits the contract,
 *   and the record was deleted
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
  /** Reads a record without its internal columns, as JSON text. A reply sends this text unchanged. */
  get(id: Id): Awaitable<JsonText<Shown> | undefined>;
  /** Reads a record as an object, with its internal columns. */
  read(id: Id): Awaitable<Found | undefined>;
  /**
   * Reads a page. Returns undefined if `after` is not a cursor of this list. A filter that the collection's description
   * does not declare is a compile error.
   */
  list<const Query extends PageQuery<Found, Lists>>(
    query: Query & NoOther<Query, PageQuery<Found, Lists>>,
  ): Awaitable<PageOf<Query, Shown>>;
  /** Reads all records of a list, as text. @throws Error if there are more than `most` */
  all<const Query extends AllQuery<Found, Lists>>(
    query: Query & NoOther<Query, AllQuery<Found, Lists>>,
  ): Awaitable<JsonText<Shown[]>>;
}

export type AnyCollection = Collection;

/** The options of a change: a condition that the record must meet, and the request's `Idempotency-Key`. */
export interface HowToChange<Found = Fields> {
  /**
   * The values that the record must contain; otherwise the change is refused with the code `changed`. For a field with
   * a list of values, the record must contain one of these values.
   */
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
/**
 * The default of the type parameter `Causes`, which maps the code of a refusal to the fields that can cause it. A
 * refusal without an entry can be caused by a change of any field.
 */
type NoCauses = Record<never, never>;
/** The type of the refusals that an update can return. `Changes` is the type of the updated fields. */
type ConflictsIf<Changes, Conflicts, Causes> =
  Conflicts extends Refused<infer Why>
    ? Why extends keyof Causes
      ? [Causes[Why] & (Changes extends unknown ? keyof Changes : never)] extends [never]
        ? never
        : Conflicts
      : Conflicts
    : never;
/** The type of the refusal of `{ add }`: the sum is outside the range of the field's type. */
type OutOfRangeIf<Changes> = true extends IsSum<Changes[keyof Changes]> ? Refused<'out_of_range'> : never;
type IsSum<Value> = Value extends { add: unknown } ? true : never;
/** The type of the refusal of an update that merges objects: a merged object does not fit its schema. */
type UnfitIf<Changes> = true extends IsMerged<Changes[keyof Changes]> ? Refused<'unfit'> : never;
type IsMerged<Value> = unknown extends Value
  ? true
  : Value extends readonly unknown[] | { add: unknown }
    ? never
    : Value extends object
      ? true
      : never;
export type ChangesOf<New> = { [Name in keyof New]?: Change<New[Name]> | undefined };
/** The type of a field's new value in an update; `undefined` if only the store may set the field. */
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

/**
 * The type of an object that an update merges into the stored object, with only the changed fields. Null removes an
 * optional field.
 */
type PatchOf<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Name in keyof Value]?: InPatch<Value[Name]> | (string extends Name ? null : never) | undefined }
    : Value;
type InPatch<Value> = PatchOf<Exclude<Value, undefined>> | (undefined extends Value ? null : never);

/**
 * The result of a change that the store refused. `refused` is the code of the reason. The change does not take effect.
 */
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
 * The query of a page. The page contains up to `limit` records (at least 1) that match the filters and follow the
 * cursor `after`. The records are sorted by the declared order that the query names, or by default in the order of
 * their creation. A query that sorts by one field and limits another field to a range may get a page with fewer than
 * `limit` records even if another page follows.
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
/** The query of a whole list. `most` is the highest allowed number of records. */
export type AllQuery<Found = Fields, Lists = AnyLists> = Omit<
  PageQuery<Found, Lists>,
  'limit' | 'after' | 'skip' | 'count'
> & { most: number };
export type NoOther<Query, Known> = { [Name in Exclude<KeyOf<Query>, keyof Known>]: never };
type KeyOf<T> = T extends unknown ? keyof T : never;
/**
 * The type of the result of `list`. The result can be undefined only if the query contains a cursor, because the cursor
 * may belong to another list. If the query contains `count: true`, the result contains the total.
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
  /** The cursor for the next page. The last page has none. */
  next?: string | undefined;
}

/** The `Idempotency-Key` of a change. The change takes effect only once, even if a client sends it several times. */
export interface Idempotency {
  /**
   * The owner of the key: the id of an API key, or a tenant. Different owners may use the same text in `key` without
   * conflict.
   */
  readonly caller: string;
  /** The operationId. */
  readonly operation: string;
  /** The key itself. The client chooses a new one for each change. */
  readonly key: string;
  /** How many hours the store remembers the key. */
  readonly hours: number;
  /**
   * A digest of the request's parameters and body. A later request with the same key but another digest fails with
   * KeyReused.
   */
  readonly digest: string;
  /**
   * The store sets this to true if an earlier request with this key already made the change. The result is then the
   * stored answer of that request.
   */
  isReplayed?: boolean | undefined;
}

/**
 * An `Idempotency-Key` with a property `isReplayed` that is read from and written to another object, `target`. The type
 * is a class, because V8 turns each object literal with accessors into a slow dictionary.
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

/** Thrown if an earlier, different request has used the same `Idempotency-Key`. */
export class KeyReused extends Error {
  override name = 'KeyReused';
}

/** Thrown for a repeated request if the change was already made, but the stored answer can no longer be sent. */
export class AlreadyDone extends Error {
  override name = 'AlreadyDone';
}

/**
 * Thrown for a value that the database cannot store. The request is answered with 400. `code` identifies the error,
 * because an error that comes from another thread loses its class.
 */
export class InvalidValue extends Error {
  override name = 'InvalidValue';
  readonly code = 'INVALID_VALUE';
}

export const isInvalidValue = (error: unknown): error is Error =>
  error instanceof Error && (error as { code?: unknown }).code === 'INVALID_VALUE';
