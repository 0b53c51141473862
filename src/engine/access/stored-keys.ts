/** The keys of the store that are valid. They are read once; afterwards, those that have changed. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Store, StoredKey } from '../../store/store.ts';
import { HttpError } from '../errors.ts';
import type { Caller } from './caller.ts';

/** How often to ask whether they have changed, in milliseconds: a revoked key is refused within a second. */
const INTERVAL = 500;

/** How long the last keys that were read stay valid while the store cannot be read, in milliseconds. */
const MAX_AGE = 60_000;

export interface StoredKeysOptions {
  store: Store;
  logger: Logger;
  toCaller: (key: StoredKey) => Caller;
  maxAge?: number | undefined;
  /** Called whenever they have been read. */
  onRead?: (() => void) | undefined;
}

export class StoredKeys {
  readonly #options: StoredKeysOptions;
  readonly #maxAge: number;
  readonly #stopping = new AbortController();
  /** By their hashes, and those by the ids of their keys. */
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

  /** Reads them, and from then on again and again. @throws Error when they cannot be read now */
  async start(): Promise<void> {
    await this.#read();
    this.#readOnAndOn().catch(() => {});
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** The salt of the store. */
  get salt(): string {
    return this.#salt;
  }

  /** The caller whose key has this hash; undefined where none is valid. @throws HttpError while the keys cannot be read */
  find(hash: string): Caller | undefined {
    if (performance.now() - this.#readAt > this.#maxAge) {
      throw new HttpError('unavailable', 'The API keys cannot be read now.');
    }
    const caller = this.#callers.get(hash);
    return caller && Date.now() < caller.expiry ? caller : undefined;
  }

  /** Not by setInterval: a slow read must not overlap the next one. */
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

  /** Undefined where the key is revoked, or was edited and cannot be understood: then it is refused, and all others are not. */
  #toCaller(key: StoredKey): Caller | undefined {
    if (key.revokedAt !== undefined) return undefined;
    const { toCaller, logger } = this.#options;
    try {
      return toCaller(key);
    } catch (error) {
      logger.error({ keyId: key.id, keyName: key.name, err: error }, 'a stored API key cannot be read, and is refused');
      return undefined;
    }
  }
}
