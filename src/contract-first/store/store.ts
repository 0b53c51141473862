/** The interface of all stores. Each passes the tests in `test/store-suite.ts`. */
import { OperatorError } from '../operator-error.ts';
import type { Awaitable } from './collection.ts';

/** An API key as it is stored: never the key itself. Times are ISO 8601, in UTC. */
export interface StoredKey {
  id: string;
  name: string;
  /** SHA-256 of the key, in hexadecimal digits. */
  hash: string;
  createdAt: string;
  /** The scopes of the key; without scopes it may do everything. */
  scopes?: string[] | undefined;
  /** The rate limit of the key: `100/s`, or `none`; by default, that of the configuration. */
  rate?: string | undefined;
  expiresAt?: string | undefined;
  revokedAt?: string | undefined;
}

/** Changed keys, in any order. */
export interface KeyChanges {
  /** The version of the keys, for the next call. */
  version: string;
  /** Whether `keys` has all keys that are not revoked; otherwise only those that have changed. */
  isAll: boolean;
  keys: StoredKey[];
  /** A random value of this database, which never changes, for the ids of configured keys. */
  salt: string;
}

/** The owner of a request's key, and its scopes. */
export interface KeyOwner {
  readonly id: string;
  readonly name: string;
  /** Undefined if it may do everything. */
  readonly scopes: readonly string[] | undefined;
}

/** When a key was used last. */
export interface KeyUse {
  keyId: string;
  /** ISO 8601, in UTC. */
  usedAt: string;
}

/** At most `limit` requests in each window of `window` seconds. */
export interface Rate {
  readonly limit: number;
  readonly window: number;
}

/** The requests in the current window, with those just added, and in how many milliseconds the window ends. */
export interface WindowCount {
  total: number;
  ends: number;
}

/** Adds `amount` to the requests in the current window, which is `window` seconds long. */
export type WindowCounter = (id: string, window: number, amount: number) => Awaitable<WindowCount>;

/** A store cannot be opened, or moved; the message is for the operator. */
export class StoreError extends OperatorError {
  override name = 'StoreError';
}

/**
 * The outcome of a call in an outage. `unavailable`: it was not done. `overloaded`: it was not done, because too many writes wait.
 * `outcome_unknown`: it may have been done or not. `ids_used_up`: it was not done, because there is no higher id.
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

/** The limits of a store, and how it is opened. */
export interface StoreLimits {
  /** Called after a migration. */
  onMigrated?: (migrated: Migrated) => void;
  /** Called for each filter or order of a list that no index serves. */
  onWarning?: (warning: string) => void;
  /** How long a write may wait to be durable, in milliseconds. */
  createTimeout: number;
  /** How many writes may wait at once. */
  maxCreates: number;
  /** How long a health check may take, in milliseconds; by default, less than a second. */
  checkTimeout?: number;
}

/** The number of migrations before and after; 0 before if the schema is new. */
export interface Migrated {
  from: number;
  to: number;
}

/** The state of a database, for `--check`. */
export interface Inspection {
  /** How many migrations it has had; 0 if there is no database yet. */
  version: number;
  /** How many migrations this program has. */
  newest: number;
  /** The migrations that a start would run, such as `engine/0002-api-keys.sql`. */
  pending: string[];
  /** How many stored keys are valid. */
  validKeys: number;
  /** How many keys were ever stored. */
  keys: number;
}

/** The store of API keys. */
interface Keys {
  createKey(key: StoredKey): Awaitable<void>;
  /** Every key, the oldest first, revoked and expired ones too. */
  listKeys(): Awaitable<StoredKey[]>;
  /**
   * The keys that were changed since this version, by any program; without a version, all that are not revoked. Fails also if keys can be
   * read, but not written.
   */
  readKeys(since?: string): Awaitable<KeyChanges>;
  /** True when the key existed and was not yet revoked. */
  revokeKey(id: string, revokedAt: string): Awaitable<boolean>;
  /**
   * Adds the key, and makes the key with this id expire at this time, unless it expires earlier. Returns false, and does nothing, if
   * that key is revoked or unknown.
   */
  replaceKey(id: string, key: StoredKey, expiresAt: string): Awaitable<boolean>;
  /** Stores the latest times. A crash may lose them: the call does not wait until they are durable. */
  addUses(uses: KeyUse[]): Awaitable<void>;
  listUses(): Awaitable<KeyUse[]>;
}

/** Whether a record of a collection, as JSON, fits the contract. */
export type Fits = (record: string, collection: string) => boolean;

/** Operations on the whole contents, for operators. */
export interface Contents {
  /**
   * Counts the records that do not fit the contract with this digest. Once all fit, the digest is stored, and records are not read again
   * for this contract.
   */
  countInvalidRecords(contract: string, fits: Fits): Awaitable<number>;
}

/** Every method throws StoreUnavailable if the store cannot be reached or written. */
export interface Store<Collections extends object = object> extends Keys, Contents {
  /** The domain's collections, by name. */
  readonly collections: Collections;
  /** Counts for all servers of the database; undefined for SQLite, which has one server. Call it once at a time for each limit. */
  readonly countWindow: WindowCounter | undefined;
  readonly counts: StoreCounts;
  /** Throws if the store does not answer, or cannot write. */
  check(): Awaitable<void>;
  /** Waits for writes in progress. The store cannot be used afterwards. */
  close(): Awaitable<void>;
}

export interface Pool {
  used: number;
  idle: number;
  /** Statements that wait for a connection, each for many calls. */
  waiting: number;
}

/** Times are those of performance.now(). */
export interface Commit {
  began: number;
  ended: number;
  /** How many writes it made durable. */
  size: number;
}

export interface Hits {
  hits: number;
  misses: number;
}

export class StoreCounts {
  /** Called after each commit, with its duration and how many writes it made durable. */
  onCommit: ((seconds: number, size: number) => void) | undefined;
  /** Called for each durable write, with its duration: its wait for a commit, and the commit. */
  onWrite: ((seconds: number) => void) | undefined;
  /** The latest commit. */
  latest: Commit | undefined;
  /** Hits and misses of the caches, by what is read; empty without caches. */
  readonly cached: Record<string, Hits> = {};
  /** Connections to a database server, by purpose; empty without a server. */
  pools: () => Record<string, Pool> = () => ({});

  /** Counts a commit that ends now. Its writes are answered in the same tick. */
  addCommit(began: number, size: number): void {
    const ended = performance.now();
    this.onCommit?.((ended - began) / 1000, size);
    this.latest = { began, ended, size };
  }

  /** Counts a write that is durable now, and was called at this time. */
  addWrite(since: number): void {
    this.onWrite?.((performance.now() - since) / 1000);
  }

  /** The counts under this name, shared by all caches of that kind. */
  cache(name: string): Hits {
    this.cached[name] ??= { hits: 0, misses: 0 };
    return this.cached[name];
  }
}
