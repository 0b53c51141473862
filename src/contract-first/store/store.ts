/** The interface of a store. The stores on both databases pass the tests in `test/store-suite.ts`. */
import { OperatorError } from '../operator-error.ts';
import type { Awaitable } from './collection.ts';

/** An API key as it is stored: with a hash instead of the key itself. Times are ISO 8601, in UTC. */
export interface StoredKey {
  id: string;
  name: string;
  /** The SHA-256 of the key, in hexadecimal digits. */
  hash: string;
  createdAt: string;
  /** The scopes of the key. If absent, the key may do everything. */
  scopes?: string[] | undefined;
  /** The rate limit of the key, such as `100/s` or `none`. If absent, the configured limit applies. */
  rate?: string | undefined;
  expiresAt?: string | undefined;
  revokedAt?: string | undefined;
}

/** The answer of `readKeys`: the API keys that were changed since the given version, in any order, and the new version. */
export interface KeyChanges {
  /** The version of the stored keys. The next call of `readKeys` takes it as `since`. */
  version: string;
  /** True if `keys` contains all keys that are not revoked. False if it contains only the changed keys. */
  isAll: boolean;
  keys: StoredKey[];
  /** A random text that never changes in this database. The ids of configured keys are derived from it. */
  salt: string;
}

/** The owner of a request's key, and its scopes. */
export interface KeyOwner {
  readonly id: string;
  readonly name: string;
  /** The scopes; undefined if the owner may do everything. */
  readonly scopes: readonly string[] | undefined;
}

/** The time when an API key was last used. */
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

/**
 * The number of requests in the current window, including those of this call. `ends` is the number of milliseconds
 * until the window ends.
 */
export interface WindowCount {
  total: number;
  ends: number;
}

/** Counts `amount` more requests for the limit with this id, in its current window of `window` seconds. */
export type WindowCounter = (id: string, window: number, amount: number) => Awaitable<WindowCount>;

/** Thrown if a store cannot be opened or moved. The message is for the operator. */
export class StoreError extends OperatorError {
  override name = 'StoreError';
}

/**
 * How a call failed in an outage. `unavailable`: the call did not take effect. `overloaded`: it did not take effect,
 * because too many writes are waiting. `outcome_unknown`: it may or may not have taken effect. `ids_used_up`: it did
 * not take effect, because no ids are left for new records.
 */
export type OutageKind = 'unavailable' | 'overloaded' | 'outcome_unknown' | 'ids_used_up';

/** Thrown if the store cannot be reached or written at the moment. The reason is in `cause`. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  readonly kind: OutageKind;

  constructor(cause: unknown, kind: OutageKind = 'unavailable') {
    super('the store is unavailable', { cause });
    this.kind = kind;
  }
}

/** The limits of a store, and the functions that the store calls while it is being opened. */
export interface StoreLimits {
  /** Called after a migration. */
  onMigrated?: (migrated: Migrated) => void;
  /** Called with a warning for each list or delete that reads a whole table for lack of an index. */
  onWarning?: (warning: string) => void;
  /** How long a write may take until it is durable, in milliseconds. */
  createTimeout: number;
  /** How many writes may wait at the same time. */
  maxCreates: number;
  /** How long a health check of SQLite may take, in milliseconds. The default is less than a second. */
  checkTimeout?: number;
}

/** How many migrations have run on a database, before and after it was opened. `from` is 0 for a new database. */
export interface Migrated {
  from: number;
  to: number;
}

/** The state of a database, for `--check`. */
export interface Inspection {
  /** How many migrations have run on the database; 0 if it does not exist yet. */
  version: number;
  /** How many migrations this program contains. */
  newest: number;
  /** The migrations that a start would run, such as `engine/0002-api-keys.sql`. */
  pending: string[];
  /** How many stored keys are valid: neither revoked nor expired. */
  validKeys: number;
  /** How many keys are stored, including revoked and expired ones. */
  keys: number;
}

/** The methods for API keys. */
interface Keys {
  createKey(key: StoredKey): Awaitable<void>;
  /** Returns all keys, the oldest first, including revoked and expired ones. */
  listKeys(): Awaitable<StoredKey[]>;
  /**
   * Returns the keys that any program has changed since the version `since`, which an earlier call has returned.
   * Without `since`, returns all keys that are not revoked. Also throws StoreUnavailable if the database server is
   * read-only at the moment, because it may then not be the primary.
   */
  readKeys(since?: string): Awaitable<KeyChanges>;
  /** Revokes a key. Returns false if the key does not exist, or was revoked before. */
  revokeKey(id: string, revokedAt: string): Awaitable<boolean>;
  /**
   * Stores the new key, `key`. The old key, with the id `id`, expires at `expiresAt`, or at its own end if that is
   * earlier. If the old key is unknown or revoked, stores nothing and returns false.
   */
  replaceKey(id: string, key: StoredKey, expiresAt: string): Awaitable<boolean>;
  /** Stores the last uses of keys. The call does not wait until the uses are durable, so a crash may lose them. */
  addUses(uses: KeyUse[]): Awaitable<void>;
  listUses(): Awaitable<KeyUse[]>;
}

/** Checks whether a record, given as JSON text, fits the schema of its collection. */
export type Fits = (record: string, collection: string) => boolean;

/** The methods that read all records, for operators' commands and the start. */
export interface Contents {
  /**
   * Counts the records that do not fit a contract; `contract` is its digest. If all records fit, the store remembers the
   * digest, and later calls with the same digest return 0 without reading the records.
   */
  countInvalidRecords(contract: string, fits: Fits): Awaitable<number>;
}

/** An open store. The methods throw StoreUnavailable if the database cannot be reached or written. */
export interface Store<Collections extends object = object> extends Keys, Contents {
  /** The domain's collections, by name. */
  readonly collections: Collections;
  /**
   * Counts requests in windows, for all servers that share the database. Undefined in SQLite, because only one server
   * uses a file. The counts of one limit must not overlap: wait for the result of a call before the next call for the
   * same limit.
   */
  readonly countWindow: WindowCounter | undefined;
  readonly counts: StoreCounts;
  /** Throws if the database does not answer, or cannot be written. */
  check(): Awaitable<void>;
  /** Waits for writes in progress, and then closes the store for good. */
  close(): Awaitable<void>;
}

export interface Pool {
  used: number;
  idle: number;
  /** The number of statements that wait for a connection. A statement may serve many calls. */
  waiting: number;
}

/** A finished commit. The times are as in `performance.now()`. */
export interface Commit {
  began: number;
  ended: number;
  /** The number of writes that the commit made durable. */
  size: number;
}

export interface Hits {
  hits: number;
  misses: number;
}

export class StoreCounts {
  /** Called after each commit, with its duration and the number of writes that it made durable. */
  onCommit: ((seconds: number, size: number) => void) | undefined;
  /**
   * Called when a write is durable, with the seconds since the write was called, including the wait for a commit, and
   * the commit itself.
   */
  onWrite: ((seconds: number) => void) | undefined;
  /** The latest commit. */
  latest: Commit | undefined;
  /** The hits and misses of the caches, by the name of the cache; empty in PostgreSQL. */
  readonly cached: Record<string, Hits> = {};
  /** Returns the pools of connections, by purpose, `read` and `write`; empty in SQLite. */
  pools: () => Record<string, Pool> = () => ({});

  /** Counts a commit that ends now. The calls of its writes are resolved in the same tick. */
  addCommit(began: number, size: number): void {
    const ended = performance.now();
    this.onCommit?.((ended - began) / 1000, size);
    this.latest = { began, ended, size };
  }

  /**
   * Counts a write that has just become durable. `since` is the time when the write was called, as in
   * `performance.now()`.
   */
  addWrite(since: number): void {
    this.onWrite?.((performance.now() - since) / 1000);
  }

  /**
   * Returns the hits and misses of the caches with this name. Several caches may share a name: then they are counted
   * together.
   */
  cache(name: string): Hits {
    this.cached[name] ??= { hits: 0, misses: 0 };
    return this.cached[name];
  }
}
