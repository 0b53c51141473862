/** What a domain keeps, as handlers see it. Records are what the contract says; the store adds their ids. */
import type { JsonText } from '../json/json-text.ts';

/** Some stores answer at once, others after a round trip; `await` takes both. */
export type Awaitable<T> = T | Promise<T>;

/** The fields of a record, by name. */
export type Fields = Record<string, unknown>;

/** Every method throws StoreUnavailable where the store cannot be reached or written. */
export interface Collection<Found, New, Filter extends string = string> {
  get(id: bigint): Awaitable<JsonText<Found> | undefined>;
  /** Undefined where `after` is no cursor that this list has given out. A member that is no filter does not compile. */
  list<Query extends PageQuery<Found, Filter>>(
    query: Query & { [Name in Exclude<keyof Query, keyof PageQuery<Found, Filter>>]: never },
  ): Awaitable<Page<Found> | undefined>;
  /** Adds a record and assigns its id. Resolves when the record is durable. */
  create(record: New): Awaitable<Found>;
  /** The same, once for each key, whoever else is creating with it now. Undefined where the key has created another record. */
  createOnce(record: New, once: Once): Awaitable<Created<Found> | undefined>;
  /** Undefined where there is none with this id. Resolves when it is durable. */
  replace(id: bigint, record: New): Awaitable<Found | undefined>;
  /** Whether there was one. Its id is never given again. Resolves when it is durable. */
  delete(id: bigint): Awaitable<boolean>;
}

export type AnyCollection = Collection<Fields, Fields>;

/** A page by ascending ids: of at most `limit` records, 1 or more, that have these values, after a cursor. */
export type PageQuery<Found = Fields, Filter extends string = string> = {
  limit: number;
  after?: string | undefined;
} & { [Name in Filter]?: (Name extends keyof Found ? Exclude<Found[Name], null | undefined> : unknown) | undefined };

export interface Page<Found = Fields> {
  body: JsonText<Found[]>;
  /** The cursor of the next page; absent on the last page. */
  next?: string | undefined;
}

/** What lets a create be sent again and be done once. */
export interface Once {
  /** The id of the caller's key: others may choose the same key for a create of theirs. */
  readonly caller: string;
  /** Its operationId. */
  readonly operation: string;
  /** Made up by the client, another one for each create. */
  readonly key: string;
  /** For how long the key is known, in hours. */
  readonly hours: number;
}

/** What a create with a key has come to: the record as it was when it was created. */
export interface Created<Found> {
  record: Found;
  /** Whether it was there already, from the same create sent before. */
  isReplayed: boolean;
}
