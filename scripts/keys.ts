/** Makes, lists and revokes API keys, beside a running server or without one. */
import { parseArgs } from 'node:util';
import { isValid, makeKey, toStoredKey } from '../src/api-keys.ts';
import { loadConfig } from '../src/config.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store, StoredKey } from '../src/store/store.ts';

const USAGE = `Usage:
  npm run keys -- create <name> [--expires <date or days>]   makes a key and shows it, once
  npm run keys -- list                                       shows every key, never the key itself
  npm run keys -- revoke <id>                                refuses a key from now on`;

class UsageError extends Error {}

async function main(): Promise<void> {
  const options = { expires: { type: 'string' } } as const;
  const { positionals, values } = parseArgs({ allowPositionals: true, options });
  const [command, subject, ...rest] = positionals;
  const takesSubject = command === 'create' || command === 'revoke';
  if (rest.length > 0 || takesSubject !== (subject !== undefined) || (values.expires && command !== 'create')) {
    throw new UsageError(USAGE);
  }
  const expiresAt = values.expires === undefined ? undefined : toExpiry(values.expires);

  const { databaseUrl } = loadConfig(process.env);
  if (databaseUrl === 'sqlite::memory:')
    throw new UsageError('DATABASE_URL is in memory: its keys end with its process.');
  const store = openStore(databaseUrl);
  try {
    if (command === 'create') await create(store, subject as string, expiresAt);
    else if (command === 'list') await list(store);
    else if (command === 'revoke') await revoke(store, subject as string);
    else throw new UsageError(USAGE);
  } finally {
    await store.close();
  }
}

async function create(store: Store, name: string, expiresAt: Date | undefined): Promise<void> {
  const key = makeKey();
  const stored = toStoredKey(key, name, expiresAt);
  await store.createKey(stored);
  console.log(`Key ${stored.id} (${name}), ${expiresAt ? `valid until ${stored.expiresAt}` : 'without expiry'}:

  ${key}

It is not shown again: only its hash is stored.`);
}

async function list(store: Store): Promise<void> {
  const state = (key: StoredKey) => (key.revokedAt ? 'revoked' : isValid(key, Date.now()) ? 'valid' : 'expired');
  const keys = await store.listKeys();
  if (keys.length === 0) return console.log('There are no keys.');
  console.table(
    keys.map((key) => ({
      id: key.id,
      name: key.name,
      state: state(key),
      created: key.createdAt,
      expires: key.expiresAt ?? '',
      revoked: key.revokedAt ?? '',
    })),
  );
}

async function revoke(store: Store, id: string): Promise<void> {
  if (!(await store.revokeKey(id, new Date().toISOString()))) throw new UsageError(`There is no valid key ${id}.`);
  console.log(`Key ${id} is revoked: running servers refuse it within a second.`);
}

/** A number of days from now, or a date (ISO 8601). */
function toExpiry(text: string): Date {
  const date = /^\d+d?$/.test(text) ? new Date(Date.now() + Number.parseInt(text, 10) * 86_400_000) : new Date(text);
  if (!(date.getTime() > Date.now()))
    throw new UsageError(`--expires must be a number of days or a date to come, not ${text}`);
  return date;
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
