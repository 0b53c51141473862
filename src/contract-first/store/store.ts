/** The interface of all stores. Every store passes the tests in `test/store-suite.ts`. */
import { OperatorError } from '../operator-error.ts';
import type { Awaitable } from './collection.ts';

/** The stored form of an API key, without the key itself. Times are ISO 8601, in UTC. */
export interface StoredKey {
  id: string;
  name: string;
  /** SHA-256 of the key, in hexadecimal digits. */
  hash: string;
  createdAt: string;
  /** The scopes of the key. If absent, the key may do everything. */
  scopes?: string[] | undefined;
  /** The rate limit of the key, such as `100/s` or `none`. If absent, the configured limit applies. */
  rate?: string | undefined;
  expiresAt?: string | undefined;
  revokedAt?: string | undefined;
}

/** The changed keys, in any order. */
export interface KeyChanges {
  /** The version of the keys, to pass to the next call. */
  version: string;
  /** Whether `keys` contains all keys that are not revoked. If false, it contains only the changed keys. */
  isAll: boolean;
  keys: StoredKey[];
  /** A random, constant value of this database, for the ids of configured keys. */
  salt: string;
}

/** The owner of a request's key, and its scopes. */
export interface KeyOwner {
  readonly id: string;
  readonly name: string;
  /** The scopes; undefined if the owner may do everything. */
  readonly scopes: readonly string[] | undefined;
}

/** The last use of a key. */
export interface KeyUse {
  keyId: string;
  /** The time of the use: ISO 8601, in UTC. */
  usedAt: string;
}

/** A rate limit: at most `limit` requests in each window of `window` seconds. */
export interface Rate {
  readonly limit: number;
  readonly window: number;
}

/** The number of requests in the current window, including those just added, and the milliseconds until the window ends. */
export interface WindowCount {
  total: number;
  ends: number;
}

/** Adds `amount` to the number of requests in the current window. The window is `window` seconds long. */
export type WindowCounter = (id: string, window: number, amount: number) => Awaitable<WindowCount>;

/** The error of a store that cannot be opened or moved. The message is for the operator. */
export class StoreError extends OperatorError {
  override name = 'StoreError';
}

/**
 * The outcome of a call in an outage. `unavailable`: it had no effect. `overloaded`: it had no effect, because too many writes wait.
 * `outcome_unknown`: it may have had its effect or not. `ids_used_up`: it had no effect, because all ids are used up.
 */
export type OutageKind = 'unavailable' | 'overloaded' | 'outcome_unknown' | 'ids_used_up';

/** The error of a store that cannot be reached or written at the moment. The reason is in `cause`. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  readonly kind: OutageKind;

  constructor(cause: unknown, kind: OutageKind = 'unavailable') {
    super('the store is unavailable', { cause });
    this.kind = kind;
  }
}

/** The limits of a store, and the functions to call while it is opened. */
export interface StoreLimits {
  /** Called after a migration. */
  onMigrated?: (migrated: Migrated) => void;
  /** Called with a warning for each kind of list or delete without an index. */
  onWarning?: (warning: string) => void;
  /** The longest time until a write is durable, in milliseconds. */
  createTimeout: number;
  /** The most writes that may wait at once. */
  maxCreates: number;
  /** The longest time of a health check, in milliseconds; by default, less than a second. */
  checkTimeout?: number;
}

/** The number of applied migrations before and after. If the schema is new, `from` is 0. */
export interface Migrated {
  from: number;
  to: number;
}

/** The state of a database, for `--check`. */
export interface Inspection {
  /** The number of migrations that have run on it; 0 if the database does not exist yet. */
  version: number;
  /** The number of this program's migrations. */
  newest: number;
  /** The migrations that a start would run, such as `engine/0002-api-keys.sql`. */
  pending: string[];
  /** The number of valid stored keys. */
  validKeys: number;
  /** The number of all stored keys, including expired and revoked ones. */
  keys: number;
}

/** The store of API keys. */
interface Keys {
  createKey(key: StoredKey): Awaitable<void>;
  /** Returns all keys, the oldest first, including revoked and expired ones. */
  listKeys(): Awaitable<StoredKey[]>;
  /**
   * Returns the keys that any program has changed since a version. Without a version, returns all keys that are not revoked. Also fails if
   * keys can be read, but not written.
   */
  readKeys(since?: string): Awaitable<KeyChanges>;
  /** Revokes a key. Returns true if the key existed and was not yet revoked. */
  revokeKey(id: string, revokedAt: string): Awaitable<boolean>;
  /**
   * Adds the new `key`, and makes the key with this id expire at the given time, unless it expires earlier. If the latter is revoked or
   * unknown, returns false, and does nothing.
   */
  replaceKey(id: string, key: StoredKey, expiresAt: string): Awaitable<boolean>;
  /** Stores the last uses of keys. The call does not wait until they are durable: a crash may lose them. */
  addUses(uses: KeyUse[]): Awaitable<void>;
  listUses(): Awaitable<KeyUse[]>;
}

/** Checks whether a record of a collection, given as JSON, fits the contract. */
export type Fits = (record: string, collection: string) => boolean;

/** Operations on the whole contents, for operators. */
export interface Contents {
  /**
   * Counts the records that do not fit the contract with this digest. If all fit, the digest is stored: then records are not read again for
   * this contract.
   */
  countInvalidRecords(contract: string, fits: Fits): Awaitable<number>;
}

/** An open store. Every method throws StoreUnavailable if the store cannot be reached or written. */
export interface Store<Collections extends object = object> extends Keys, Contents {
  /** The domain's collections, by name. */
  readonly collections: Collections;
  /** Counts requests for all servers of the database; undefined for SQLite, which has one server. Call it once at a time for each limit. */
  readonly countWindow: WindowCounter | undefined;
  readonly counts: StoreCounts;
  /** Checks the store. Throws if it does not answer, or cannot write. */
  check(): Awaitable<void>;
  /** Waits for writes in progress, and closes the store for good. */
  close(): Awaitable<void>;
}

export interface Pool {
  used: number;
  idle: number;
  /** The number of statements that wait for a connection. A statement can serve many calls. */
  waiting: number;
}

/** A commit, with times of performance.now(). */
export interface Commit {
  began: number;
  ended: number;
  /** The number of writes that it made durable. */
  size: number;
}

export interface Hits {
  hits: number;
  misses: number;
}

export class StoreCounts {
  /** Called after each commit, with its duration and the number of writes that it made durable. */
  onCommit: ((seconds: number, size: number) => void) | undefined;
  /** Called for each durable write, with its duration: the wait for a commit, and the commit itself. */
  onWrite: ((seconds: number) => void) | undefined;
  /** The latest commit. */
  latest: Commit | undefined;
  /** The hits and misses of the caches, by the name of the cache; empty without caches. */
  readonly cached: Record<string, Hits> = {};
  /** Returns the pools of connections to a database server, by purpose; empty without a server. */
  pools: () => Record<string, Pool> = () => ({});

  /** Counts a commit that ends now. The writes in it are answered in the same tick. */
  addCommit(began: number, size: number): void {
    const ended = performance.now();
    this.onCommit?.((ended - began) / 1000, size);
    this.latest = { began, ended, size };
  }

  /** Counts a write that is durable now. `since` is the time of its call. */
  addWrite(since: number): void {
    this.onWrite?.((performance.now() - since) / 1000);
  }

  /** Returns the counts with this name. Caches of the same kind share them. */
  cache(name: string): Hits {
    this.cached[name] ??= { hits: 0, misses: 0 };
    return this.cached[name];
  }
}
