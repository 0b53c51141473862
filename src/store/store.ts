/** What any store must do. Every store passes the tests in `test/store-suite.ts`. */
import type { components, operations } from '../generated/contract.ts';
import type { JsonText } from '../json/json-text.ts';
import { OperatorError } from '../operator-error.ts';

/** The contract's pets; without operations on them, those of the tables. Then this store is for a team to replace by its own. */
type Schemas = operations extends { createPet: unknown }
  ? components['schemas']
  : { NewPet: Kept; Pet: Kept & { id: bigint }; PetStatus: Status };
type Status = 'available' | 'pending' | 'sold';
interface Kept {
  name: string;
  categoryId: bigint;
  status?: Status;
}

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

/** Whose key a request has, and what it is limited to. */
export interface KeyOwner {
  readonly id: string;
  readonly name: string;
  /** Undefined where it may do everything. */
  readonly scopes: readonly string[] | undefined;
}

/** That a key was used. */
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
export interface Tallied {
  total: number;
  ends: number;
}

/** Adds to what was used of a limit in the window of now, which is one of so many seconds. */
export type Tally = (id: string, window: number, amount: number) => Awaitable<Tallied>;

/** What lets a create be sent again and be done once. */
export interface Once {
  /** The id of the caller's key: others may choose the same key for a create of theirs. */
  readonly caller: string;
  /** Made up by the client, another one for each create. */
  readonly key: string;
  /** For how long the key is known, in hours. */
  readonly hours: number;
}

/** What a create with a key has come to: the pet as it was when it was created. */
export interface Created {
  pet: Pet;
  /** Whether it was there already, from the same create sent before. */
  isReplayed: boolean;
}

/** A part of all that a store holds. */
export interface Part<PetForm> {
  /** The highest id that was ever given to a pet, which may be gone; 0 where this part does not tell. */
  lastId: bigint;
  keys: StoredKey[];
  /** By ascending id, from one part to the next too. */
  pets: PetForm[];
}

/** Why a store cannot be opened or filled, in words for the operator. */
export class StoreError extends OperatorError {
  override name = 'StoreError';
}

/**
 * What an outage means for the call: `unavailable`: it was not done; `overloaded`: it was not done, because too much is
 * waiting; `outcome_unknown`: it may have been done or not.
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

/** How long, and how many, calls may wait; how a store is opened. */
export interface StoreLimits {
  /** Whether this process belongs to a program that runs, and has migrated: a newer program may have migrated since. */
  isMigrated?: boolean;
  /** How long a pet may wait to be durable, in milliseconds. */
  createTimeout: number;
  /** How many pets may wait at once. */
  maxCreates: number;
  /** How long a check may take, in milliseconds; without, less than a second. */
  checkTimeout?: number;
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

/** Every method throws StoreUnavailable where the store cannot be reached or written. */
export interface Store {
  /** Adds a pet and assigns its id. Resolves when the pet is durable. */
  createPet(pet: NewPet): Awaitable<Pet>;
  /** The same, once for each key, whoever else is creating with it now. Undefined where the key has created another pet. */
  createPetOnce(pet: NewPet, once: Once): Awaitable<Created | undefined>;
  getPet(id: bigint): Awaitable<JsonText<Pet> | undefined>;
  listPets(query: PageQuery): Awaitable<Page>;
  /**
   * How many pets do not fit the contract with this digest. Once all of them fit, that is remembered, and they are not read
   * again for this contract.
   */
  countMisfits(contract: string, fits: (pet: Pet) => boolean): Awaitable<number>;
  /** All that is stored, as it is when the first part is read; others go on writing. That part tells the last id. */
  readContents(): AsyncIterable<Part<JsonText<Pet>>>;
  /**
   * Fills an empty store: everything or nothing. All pets fit the contract with this digest. Resolves when all is durable; until
   * then, nobody else can write.
   * @throws StoreError where the store is not empty; whatever the parts throw
   */
  writeContents(parts: AsyncIterable<Part<Pet>>, contract: string): Promise<void>;
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
  /** For all servers that share the store; undefined where only processes of one machine can. One call at a time for each limit. */
  readonly tally: Tally | undefined;
  /** Fails when the store cannot answer, or cannot write. */
  check(): Awaitable<void>;
  /** Waits for writes in progress. The store cannot be used afterwards. */
  close(): Awaitable<void>;
}
