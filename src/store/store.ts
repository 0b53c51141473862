/** What any store must do. Every store passes the tests in `test/store-suite.ts`. */
import type { JsonText } from '../json/json-text.ts';
import { OperatorError } from '../operator-error.ts';
import type { Awaitable, Fields } from './collection.ts';
import type { StoreCounts } from './counts.ts';

export type { Awaitable } from './collection.ts';

/** An API key as it is stored: never the key itself. Times are ISO 8601, in UTC. */
export interface StoredKey {
  id: string;
  name: string;
  /** SHA-256 of the key, in hexadecimal digits. */
  hash: string;
  createdAt: string;
  /** The scopes that it is limited to; without, it may do everything. */
  scopes?: string[] | undefined;
  /** How often it may be used: `100/s`, or `none`; without, as often as the server is configured for. */
  rate?: string | undefined;
  expiresAt?: string | undefined;
  revokedAt?: string | undefined;
}

/** What has changed of the keys, in any order. */
export interface KeyChanges {
  /** Of the keys as they are now. */
  version: string;
  /** Whether these are all keys that are not revoked; otherwise those that have changed, as they are now. */
  isAll: boolean;
  keys: StoredKey[];
  /** Of this database alone, the same for ever: for what may be seen of keys that are not stored. */
  salt: string;
}

/** The owner of the key of a request, and its limits. */
export interface KeyOwner {
  readonly id: string;
  readonly name: string;
  /** Undefined where it may do everything. */
  readonly scopes: readonly string[] | undefined;
}

/** A use of a key. */
export interface KeyUse {
  keyId: string;
  /** A deprecated operation; '' for any operation, whose uses are not counted. */
  operationId: string;
  count: number;
  /** ISO 8601, in UTC. */
  usedAt: string;
}

/** So many requests in each window of so many seconds. */
export interface Rate {
  readonly limit: number;
  readonly window: number;
}

/** What was used of a limit in the window of now, with what was just added, and in how many milliseconds the window ends. */
export interface WindowCount {
  total: number;
  ends: number;
}

/** Adds to what was used of a limit in the window of now, which is one of so many seconds. */
export type WindowCounter = (id: string, window: number, amount: number) => Awaitable<WindowCount>;

/** A part of all that a store holds. */
export interface Part<Form> {
  /** Of each collection, the highest id that was ever given to a record, which may be gone; the first part alone tells. */
  lastIds?: Readonly<Record<string, bigint>>;
  keys?: StoredKey[];
  /** The collection of the records. */
  collection?: string;
  /** By ascending id, from one part to the next too. */
  records?: Form[];
}

/** Why a store cannot be opened or filled, in words for the operator. */
export class StoreError extends OperatorError {
  override name = 'StoreError';
}

/**
 * What an outage means for the call: `unavailable`: it was not done; `overloaded`: it was not done, because too much is
 * waiting; `outcome_unknown`: it may have been done or not; `ids_used_up`: it was not done, for there is no higher id.
 */
export type OutageKind = 'unavailable' | 'overloaded' | 'outcome_unknown' | 'ids_used_up';

/** The store cannot be reached or written now. The error that says why is its `cause`. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  readonly kind: OutageKind;

  constructor(cause: unknown, kind: OutageKind = 'unavailable') {
    super('the store is unavailable', { cause });
    this.kind = kind;
  }
}

/** How long, and how many, calls may wait; how a store is opened. */
export interface StoreLimits {
  /** Whether this process belongs to a program that runs, and has migrated: a newer program may have migrated since. */
  isMigrated?: boolean;
  /** Told of a migration, once it is done. */
  onMigrated?: (migrated: Migrated) => void;
  /** How long a write may wait to be durable, in milliseconds. */
  createTimeout: number;
  /** How many writes may wait at once. */
  maxCreates: number;
  /** How long a check may take, in milliseconds; without, less than a second. */
  checkTimeout?: number;
}

/** How many migrations a schema had had before, and has had since; none before where it was made. */
export interface Migrated {
  from: number;
  to: number;
}

/** What a start would find in a database. */
export interface Inspection {
  /** Of its schema; 0 where there is no database yet. */
  version: number;
  /** Of this program's schema. */
  newest: number;
  /** How many stored keys are valid. */
  validKeys: number;
  /** How many keys were ever stored. */
  keys: number;
}

/** What keys are. */
export interface Keys {
  createKey(key: StoredKey): Awaitable<void>;
  /** Every key, the oldest first, revoked and expired ones too. */
  listKeys(): Awaitable<StoredKey[]>;
  /**
   * What of the keys has changed since this version, whoever changed it; without, all that are not revoked. Fails also when keys can be
   * read, but not written.
   */
  readKeys(since?: string): Awaitable<KeyChanges>;
  /** True when the key existed and was not yet revoked. */
  revokeKey(id: string, revokedAt: string): Awaitable<boolean>;
  /**
   * Adds the key, and ends the one with this id at this time, unless it ends earlier. False, and nothing is done, where that one
   * is revoked or unknown.
   */
  replaceKey(id: string, key: StoredKey, expiresAt: string): Awaitable<boolean>;
  /** Adds to the counts, and keeps the latest times. Some stores may lose them: nobody waits until they are durable. */
  addUses(uses: KeyUse[]): Awaitable<void>;
  listUses(): Awaitable<KeyUse[]>;
}

/** Whether a record fits a contract, as JSON, of the collection with this name. */
export type Fits = (record: string, collection: string) => boolean;

/** What an operator does with the whole. */
export interface Contents {
  /**
   * How many records, as JSON, do not fit the contract with this digest. Once all of them fit, that is remembered, and they are not
   * read again for this contract.
   */
  countInvalidRecords(contract: string, fits: Fits): Awaitable<number>;
  /** All that is stored, as it is when the first part is read; others go on writing. That part tells the last ids. */
  readContents(): AsyncIterable<Part<JsonText<Fields>>>;
  /**
   * Fills an empty store: everything or nothing. All records fit the contract with this digest. Resolves when all is durable; until
   * then, nobody else can write.
   * @throws StoreError where the store is not empty; whatever the parts throw
   */
  writeContents(parts: AsyncIterable<Part<Fields>>, contract: string): Promise<void>;
}

export interface Health {
  /** Fails when the store cannot answer, or cannot write. */
  check(): Awaitable<void>;
}

/** Every method throws StoreUnavailable where the store cannot be reached or written. */
export interface Store<Collections extends object = object> extends Keys, Contents, Health {
  /** What the domain keeps, by name. */
  readonly collections: Collections;
  /** For all servers that share the store; undefined where only processes of one machine can. One call at a time for each limit. */
  readonly countWindow: WindowCounter | undefined;
  readonly counts: StoreCounts;
  /** Waits for writes in progress. The store cannot be used afterwards. */
  close(): Awaitable<void>;
}
