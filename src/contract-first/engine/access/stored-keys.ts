/**
 * Caches the valid keys of the store, and records when they are used. The start reads all keys; later reads fetch only
 * changed keys.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { KeyUse, Store, StoredKey } from '../../store/store.ts';
import { HttpError } from '../errors/catalogue.ts';
import type { Caller, KeyUsage } from './caller.ts';

/** The interval between reads of changed keys, in milliseconds. So a revoked key gets a 401 after at most a second. */
const INTERVAL = 500;

/** How long the keys that were last read remain valid while the store cannot be read, in milliseconds. */
const MAX_AGE = 60_000;

interface StoredKeysOptions {
  store: Store;
  logger: Logger;
  toCaller: (key: StoredKey) => Caller;
  maxAge?: number | undefined;
  /** Called after each successful read of the keys. */
  onRead?: (() => void) | undefined;
}

export class StoredKeys {
  readonly #options: StoredKeysOptions;
  readonly #maxAge: number;
  readonly #stopping = new AbortController();
  /** `#callers` maps the hash of each valid key to the key's caller. `#hashes` maps the id of each key to its hash. */
  readonly #callers = new Map<string, Caller>();
  readonly #hashes = new Map<string, string>();
  #version: string | undefined;
  #salt = '';
  #readAt = 0;
  #isFailing = false;

  constructor(options: StoredKeysOptions) {
    this.#options = options;
    this.#maxAge = options.maxAge ?? MAX_AGE;
  }

  /** Reads the keys now, and then at every interval. @throws Error if they cannot be read now */
  async start(): Promise<void> {
    await this.#read();
    this.#readOnAndOn().catch(() => {});
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** The salt of the database. The ids of the keys in `API_KEYS` depend on this salt. */
  get salt(): string {
    return this.#salt;
  }

  /**
   * Returns the caller of the key with this hash; undefined if no valid key has this hash. Returns an error while the
   * keys cannot be read.
   */
  find(hash: string): Caller | HttpError | undefined {
    if (performance.now() - this.#readAt > this.#maxAge)
      return new HttpError('unavailable', 'The API keys cannot be read now.');
    const caller = this.#callers.get(hash);
    return caller && Date.now() < caller.expiry ? caller : undefined;
  }

  /** Reads the changed keys after each interval. With setInterval, a slow read could overlap with the next one. */
  async #readOnAndOn(): Promise<never> {
    for (;;) {
      await wait(INTERVAL, undefined, { ref: false, signal: this.#stopping.signal });
      await this.#readAgain();
    }
  }

  async #readAgain(): Promise<void> {
    const { logger } = this.#options;
    try {
      await this.#read();
      if (this.#isFailing) logger.info('the API keys can be read again');
      this.#isFailing = false;
    } catch (error) {
      const known = `those known stay valid for ${this.#maxAge / 1000} seconds`;
      if (!this.#isFailing) logger.warn({ err: error }, `the API keys could not be read again; ${known}`);
      this.#isFailing = true;
    }
  }

  async #read(): Promise<void> {
    const now = performance.now();
    const { isAll, keys, version, salt } = await this.#options.store.readKeys(this.#version);
    const read = keys.map((key) => ({ key, caller: this.#toCaller(key) }));
    if (isAll) {
      this.#callers.clear();
      this.#hashes.clear();
    }
    for (const { key, caller } of read) {
      this.#callers.delete(this.#hashes.get(key.id) as string);
      this.#hashes.set(key.id, key.hash);
      if (caller) this.#callers.set(key.hash, caller);
    }
    this.#version = version;
    this.#salt = salt;
    this.#readAt = now;
    this.#options.onRead?.();
  }

  /**
   * Makes the caller of a stored key. Returns undefined for a revoked key, and for a key that cannot be read because
   * somebody has edited its row: such a key must not stop all other keys from being read.
   */
  #toCaller(key: StoredKey): Caller | undefined {
    if (key.revokedAt !== undefined) return undefined;
    const { toCaller, logger } = this.#options;
    try {
      return toCaller(key);
    } catch (error) {
      logger.error(
        { keyId: key.id, keyName: key.name, err: error },
        'a stored API key cannot be read, and is treated as invalid',
      );
      return undefined;
    }
  }
}

/**
 * How often the times of key uses are written to the store, in milliseconds. If a process is killed, the times since
 * the last write are lost.
 */
const WRITE_INTERVAL = 60_000;

export function buildUses(store: Store, logger: Logger) {
  const uses = new Map<string, KeyUsage>();

  async function write(): Promise<void> {
    const taken: KeyUse[] = [];
    for (const [keyId, use] of uses) {
      if (use.usedAt === undefined) continue;
      taken.push({ keyId, usedAt: new Date(use.usedAt).toISOString() });
      use.usedAt = undefined;
    }
    if (taken.length === 0) return;
    try {
      await store.addUses(taken);
    } catch (error) {
      logger.warn({ err: error }, 'the uses of keys could not be written');
    }
  }

  const writing = setInterval(write, WRITE_INTERVAL).unref();
  return {
    of: (keyId: string): KeyUsage => {
      const use = uses.get(keyId) ?? { usedAt: undefined };
      uses.set(keyId, use);
      return use;
    },
    /** Stops the timer, and writes the times that were not written before. */
    stop: (): Promise<void> => {
      clearInterval(writing);
      return write();
    },
  };
}
