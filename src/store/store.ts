/** What any store must do. `test/store-suite.ts` says it in tests, which every store passes. */
import type { components } from '../generated/contract.ts';
import type { JsonText } from '../json/json-text.ts';

type Schemas = components['schemas'];
export type Pet = Schemas['Pet'];
export type NewPet = Schemas['NewPet'];
export type PetStatus = Schemas['PetStatus'];

/** Some stores answer at once, others after a round trip; `await` takes both. */
export type Awaitable<T> = T | Promise<T>;

export interface PageQuery {
  /** At most so many pets, 1 or more. */
  limit: number;
  /** Only pets with this status. */
  status?: PetStatus | undefined;
  /** Only pets with a higher id. */
  after?: bigint | undefined;
}

export interface Page {
  /** The pets by ascending id. */
  body: JsonText<Pet[]>;
  /** The id after which the next page begins; absent on the last page. */
  next?: bigint | undefined;
}

/** An API key as it is stored: never the key itself. Times are ISO 8601, in UTC. */
export interface StoredKey {
  id: string;
  name: string;
  /** SHA-256 of the key, in hexadecimal digits. */
  hash: string;
  createdAt: string;
  expiresAt?: string | undefined;
  revokedAt?: string | undefined;
}

/** Why a store cannot be opened, in words for the one who runs the program. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/**
 * What an outage means for what was asked: `unavailable`, it is not done; `overloaded`, it is not done, because too much else
 * waits; `outcome_unknown`, it may be done or not.
 */
export type OutageKind = 'unavailable' | 'overloaded' | 'outcome_unknown';

/** The store cannot be reached or written now. The error that says why is its `cause`. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  readonly kind: OutageKind;

  constructor(cause: unknown, kind: OutageKind = 'unavailable') {
    super('the store is unavailable', { cause });
    this.kind = kind;
  }
}

/** What a store lets wait. */
export interface StoreLimits {
  /** How long a pet may wait to be durable, in milliseconds. */
  createTimeout: number;
  /** How many pets may wait at once. */
  maxCreates: number;
  /** How long a check may take, in milliseconds; without, less than a second. */
  checkTimeout?: number;
}

/** Every method throws StoreUnavailable where the store cannot be reached or written. */
export interface Store {
  /** Adds a pet and assigns its id. Resolves when the pet is durable. */
  createPet(pet: NewPet): Awaitable<Pet>;
  getPet(id: bigint): Awaitable<JsonText<Pet> | undefined>;
  listPets(query: PageQuery): Awaitable<Page>;
  /**
   * How many pets do not fit the contract of this digest. All are read once for each contract: where none was found that does not
   * fit, the answer is 0 from then on.
   */
  countMisfits(contract: string, fits: (pet: Pet) => boolean): Awaitable<number>;
  createKey(key: StoredKey): Awaitable<void>;
  /** Every key, the oldest first, revoked and expired ones too. */
  listKeys(): Awaitable<StoredKey[]>;
  /** Those that are neither revoked nor expired at this time (ISO 8601, in UTC), in no order. */
  listValidKeys(now: string): Awaitable<StoredKey[]>;
  /** Another one than before when a key may have been made or revoked since. Fails where keys can be read, and not written. */
  keysVersion(): Awaitable<string>;
  /** True when the key was there and not yet revoked. */
  revokeKey(id: string, revokedAt: string): Awaitable<boolean>;
  /** Fails when the store cannot answer, or cannot write. */
  check(): Awaitable<void>;
  /** Waits for what is being written; the store is of no use afterwards. */
  close(): Awaitable<void>;
}
