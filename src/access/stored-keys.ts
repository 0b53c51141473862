/** The keys of the store that are valid. They are read once; afterwards, those that have changed. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Failure } from '../http/errors.ts';
import type { Store, StoredKey } from '../store/store.ts';
import type { Caller } from './caller.ts';

/** How often to ask whether they have changed, in milliseconds: a revoked key is refused within a second. */
const INTERVAL = 500;

/** How long the last keys that were read stay valid while the store cannot be read, in milliseconds. */
const MAX_AGE = 60_000;

export interface StoredKeys {
  /** Whose key has this hash; undefined where none is valid. @throws Failure while the keys cannot be read */
  find(hash: string): Caller | undefined;
  /** That of the store. */
  salt: string;
  /** Stops reading them. */
  stop(): void;
}

export async function readStoredKeys(
  store: Store,
  logger: Logger,
  toCaller: (key: StoredKey) => Caller,
  maxAge = MAX_AGE,
  onRead: () => void = () => {},
): Promise<StoredKeys> {
  const stopping = new AbortController();
  /** By their hashes, and those by the ids of their keys. */
  const callers = new Map<string, Caller>();
  const hashes = new Map<string, string>();
  let version: string | undefined;
  let salt = '';
  let readAt = 0;
  let isFailing = false;

  async function read(): Promise<void> {
    const now = performance.now();
    const changes = await store.readKeys(version);
    if (changes.isAll) {
      callers.clear();
      hashes.clear();
    }
    for (const key of changes.keys) note(key);
    ({ version, salt } = changes);
    readAt = now;
    onRead();
  }

  function note(key: StoredKey): void {
    callers.delete(hashes.get(key.id) as string);
    hashes.set(key.id, key.hash);
    if (key.revokedAt === undefined) callers.set(key.hash, toCaller(key));
  }

  async function readAgain(): Promise<void> {
    try {
      await read();
      if (isFailing) logger.info('the API keys can be read again');
      isFailing = false;
    } catch (error) {
      const known = `those known stay valid for ${maxAge / 1000} seconds`;
      if (!isFailing) logger.warn({ err: error }, `the API keys could not be read again; ${known}`);
      isFailing = true;
    }
  }

  /** Not by setInterval: a slow read must not overlap the next one. */
  async function readOnAndOn(): Promise<never> {
    for (;;) {
      await wait(INTERVAL, undefined, { ref: false, signal: stopping.signal });
      await readAgain();
    }
  }

  await read();
  readOnAndOn().catch(() => {});
  return {
    find: (hash) => {
      if (performance.now() - readAt > maxAge) throw new Failure('unavailable', 'The API keys cannot be read now.');
      const caller = callers.get(hash);
      return caller && Date.now() < caller.expiry ? caller : undefined;
    },
    salt,
    stop: () => stopping.abort(),
  };
}
