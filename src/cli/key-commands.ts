/** The commands of `npm run keys`, on any store. */
import { parseArgs } from 'node:util';
import { isValid, makeKey, toStoredKey } from '../access/api-keys.ts';
import type { Store, StoredKey } from '../store/store.ts';
import type { Command } from './command.ts';

const USAGE = `Usage:
  npm run keys -- create <name> [--expires <date or days>]   makes a key and shows it, once
  npm run keys -- list                                       lists the keys by name and id, never the keys themselves
  npm run keys -- revoke <id>                                refuses a key from now on`;

/** Stores compare times as text, which needs years of four digits. */
const LATEST = Date.UTC(9999, 11, 31);

/** @throws Error that says how to use it */
export function readCommand(args: string[]): Command {
  const { positionals, values } = parse(args);
  const [name, subject = '', ...rest] = positionals;
  const expiry = values.expires === undefined ? undefined : toExpiry(values.expires);
  if (rest.length === 0) {
    if (name === 'create' && subject) return { run: (store) => create(store, subject, expiry), makesDatabase: true };
    if (name === 'list' && !subject && !expiry) return { run: list, makesDatabase: false };
    if (name === 'revoke' && subject && !expiry)
      return { run: (store) => revoke(store, subject), makesDatabase: false };
  }
  throw new Error(USAGE);
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: { expires: { type: 'string' } } });
  } catch {
    throw new Error(USAGE);
  }
}

async function create(store: Store, name: string, expiresAt: Date | undefined): Promise<string> {
  const key = makeKey();
  const stored = toStoredKey(key, name, expiresAt);
  await store.createKey(stored);
  return `Key ${stored.id} (${name}), ${expiresAt ? `valid until ${stored.expiresAt}` : 'without expiry'}:

  ${key}

It is not shown again: only its hash is stored.`;
}

async function list(store: Store): Promise<string> {
  const keys = await store.listKeys();
  if (keys.length === 0) return 'There are no keys.';
  const rows = keys.map((key) => [key.id, stateOf(key), key.createdAt, key.expiresAt ?? 'never', key.name]);
  return toTable([['id', 'state', 'created', 'expires', 'name'], ...rows]);
}

function stateOf(key: StoredKey): string {
  if (key.revokedAt) return `revoked ${key.revokedAt}`;
  return isValid(key, Date.now()) ? 'valid' : 'expired';
}

function toTable(rows: string[][]): string {
  const widths = (rows[0] as string[]).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] as string).length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

async function revoke(store: Store, id: string): Promise<string> {
  if (!(await store.revokeKey(id, new Date().toISOString()))) throw new Error(`There is no valid key ${id}.`);
  return `Key ${id} is revoked: running servers refuse it within a second.`;
}

/** A number of days from now, or a future date (ISO 8601). */
function toExpiry(text: string): Date {
  const days = /^(\d+)d?$/.exec(text)?.[1];
  const date = days ? new Date(Date.now() + Number(days) * 86_400_000) : new Date(text);
  const isDate = days !== undefined || /^\d{4}-\d\d-\d\d(T|$)/.test(text);
  if (!isDate || !(date.getTime() > Date.now() && date.getTime() <= LATEST)) {
    throw new Error(`--expires must be a number of days or a future date, such as 30 or 2030-12-05, not ${text}`);
  }
  return date;
}
