/** The commands that make, replace, list and revoke API keys. */
import { isDate } from '../../json/instant.ts';
import { toPrintable } from '../../json/literals.ts';
import type { Service } from '../../start/service.ts';
import { isValid, makeKey, NAME_PATTERN, toStoredKey } from '../../store/api-keys.ts';
import { parseRate } from '../../store/rates.ts';
import { type Store, type StoredKey, StoreUnavailable } from '../../store/store.ts';
import { loadConfig } from '../config.ts';
import type { Command, CommandCall } from './command-line.ts';

/**
 * Opens the database, and prints the text that `work` returns. If `makesDatabase` is true, creates a missing database.
 */
type WithStore = (makesDatabase: boolean, work: (store: Store) => Promise<string>) => Promise<void>;

interface Options {
  /** The new key, which `keys create` and `keys rotate` use. */
  key: string;
  expiresAt: Date | undefined;
  validUntil: Date;
  scopes: string[] | undefined;
  rate: string | undefined;
  isJson: boolean;
}

const TEXT = { type: 'string' } as const;
const JSON_OUTPUT = { type: 'boolean' } as const;

export function toKeyCommands(
  service: Pick<Service, 'name' | 'scopes'>,
  withStore: WithStore,
): Record<string, Command> {
  type Run = (store: Store, subject: string, options: Options) => Promise<string>;
  const running =
    (run: Run, isCreate = false) =>
    async ({ positionals: [subject = ''], values }: CommandCall) => {
      const options = toOptions(values, service);
      const checked = isCreate ? toName(subject) : subject;
      await withStore(isCreate, (store) => run(store, checked, options));
      return undefined;
    };
  const { scopes } = service;
  return {
    'keys create': {
      usage: '<name> [--expires <when>] [--scopes <scope,...>] [--rate <requests>/<s, m, h or d>] [--json]',
      about: 'makes a key and shows it, once',
      details: `A name has 1 to 100 characters. <when> is a number of days or a date. Without --scopes a key may do everything${scopes.length > 0 ? `; the scopes are ${scopes.join(', ')}` : ''}.
Without --rate a key may be used as often as KEY_RATE says; with --rate none, without limit.`,
      takes: [1, 1],
      options: { expires: TEXT, scopes: TEXT, rate: TEXT, json: JSON_OUTPUT },
      run: running(create, true),
    },
    'keys rotate': {
      usage: '<id> [--keep <when>] [--expires <when>]',
      about: 'makes a key that replaces another one, which ends',
      details:
        'The old key stays valid for 7 days, or as --keep says: 0 ends it at once. The new one expires when the old one would have, or as --expires says.',
      takes: [1, 1],
      options: { expires: TEXT, keep: TEXT },
      run: running(rotate),
    },
    'keys list': {
      usage: '[--json]',
      about: 'lists the keys, never the keys themselves',
      options: { json: JSON_OUTPUT },
      run: running((store, _subject, { isJson }) => list(store, isJson)),
    },
    'keys revoke': { usage: '<id>', about: 'refuses a key from now on', takes: [1, 1], run: running(revoke) },
  };
}

/**
 * Opens the database for `work`, also while a server runs. If `makesDatabase` is true, creates a missing database.
 * @throws Error with a message for the operator
 */
export async function withDatabase(
  { name, domain }: Pick<Service, 'name' | 'domain'>,
  env: NodeJS.ProcessEnv,
  makesDatabase: boolean,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const { missingFile, openStore } = await import('../../store/open-store.ts');
  const config = loadConfig(env, { name });
  for (const warning of config.warnings) console.error(`Warning: ${warning}`);
  const { database } = config;
  if (database.kind === 'memory') throw new Error('DATABASE_URL is in memory, which no other program can see.');
  const missing = missingFile(database);
  if (missing && !makesDatabase) {
    throw new Error(`There is no database ${missing}. Go to the folder of the service, or set DATABASE_URL.`);
  }
  endUnlessWritten();
  try {
    const store = await openStore(database, domain, config);
    try {
      await work(store);
      if (missing) console.error(`There was no database yet. A new one was made: ${missing}`);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw error instanceof StoreUnavailable ? toAdvice(error) : error;
  }
}

function endUnlessWritten(): void {
  process.stdout.on('error', ({ message }) => {
    console.error(`The answer cannot be written: ${message}. What was asked is done: see \`list\`.`);
    process.exit(1);
  });
}

/**
 * Converts an outage of the database to an error for the operator. The message contains the cause, and whether keys may
 * have changed.
 */
function toAdvice({ kind, cause }: StoreUnavailable): Error {
  const outcome =
    kind === 'outcome_unknown'
      ? 'The change may have been made or not: see `list`, and try again.'
      : 'Nothing was changed.';
  return new Error(`The database cannot be used now: ${(cause as Error).message}. ${outcome}`);
}

const REFUSED = 'running servers refuse it within a second';
const OVER = `has ended: ${REFUSED}`;

/** The latest date that an option may contain. Stores compare times as text, so years must have four digits. */
const LATEST = Date.UTC(9999, 11, 31);

/** Reads the options of a command. @throws Error that names the wrong value */
function toOptions(values: CommandCall['values'], { name, scopes }: Pick<Service, 'name' | 'scopes'>): Options {
  const { expires, keep = '7', scopes: wanted, rate } = values as Partial<Record<string, string>>;
  const endsNow = /^0d?$/.test(keep);
  return {
    key: makeKey(name),
    expiresAt: expires === undefined ? undefined : toDate('expires', expires),
    validUntil: endsNow ? new Date() : toDate('keep', keep),
    scopes: wanted === undefined ? undefined : toScopes(wanted, scopes),
    rate: rate === undefined ? undefined : toRate(rate),
    isJson: values.json === true,
  };
}

async function create(store: Store, name: string, { key, expiresAt, scopes, rate, isJson }: Options): Promise<string> {
  const stored = toStoredKey(key, name, expiresAt, scopes, rate);
  await store.createKey(stored);
  return isJson ? toJson({ ...toFields(stored), key }) : toMade(stored, key);
}

async function rotate(store: Store, id: string, { key, expiresAt, validUntil }: Options): Promise<string> {
  const keys = await store.listKeys();
  const old = keys.find((key) => key.id === id && isValid(key, Date.now()));
  const expiry = expiresAt ?? (old?.expiresAt === undefined ? undefined : new Date(old.expiresAt));
  const stored = old && toStoredKey(key, old.name, expiry, old.scopes, old.rate);
  if (!stored || !(await store.replaceKey(id, stored, validUntil.toISOString())))
    throw new Error(`There is no valid key ${id}.`);
  const isOver = validUntil.getTime() <= Date.now();
  const end = isOver ? OVER : `is valid until ${validUntil.toISOString()} at most`;
  return `${toMade(stored, key)}\n\nKey ${id} ${end}.`;
}

function toMade({ id, name, expiresAt, scopes, rate }: StoredKey, key: string): string {
  const often = rate ? `, at the rate ${rate}` : '';
  const end = expiresAt ? `valid until ${expiresAt}` : 'without expiry';
  return `Key ${id} (${toPrintable(name)}), ${end}, for ${scopes?.join(' and ') ?? 'everything'}${often}:

  ${key}

It is not shown again: only its hash is stored.`;
}

/** The fields of a key in JSON output. */
function toFields({ id, name, createdAt, expiresAt, revokedAt, scopes, rate }: StoredKey) {
  const times = { createdAt, expiresAt: expiresAt ?? null, revokedAt: revokedAt ?? null };
  return { id, name: toPrintable(name), ...times, scopes: scopes ?? null, rate: rate ?? null };
}

const toJson = (value: unknown): string => JSON.stringify(value, null, 2);

async function list(store: Store, isJson: boolean): Promise<string> {
  const [keys, uses] = await Promise.all([store.listKeys(), store.listUses()]);
  const toLastUse = ({ id }: StoredKey) => uses.find(({ keyId }) => keyId === id)?.usedAt;
  if (isJson) return toJson(keys.map((key) => ({ ...toFields(key), lastUsedAt: toLastUse(key) ?? null })));
  if (keys.length === 0) return 'There are no keys.';
  const rows = keys.map((key) => [
    ...[key.id, stateOf(key), key.createdAt, key.expiresAt ?? 'never'],
    toLastUse(key) ?? 'never',
    ...[key.scopes?.join(',') ?? 'all', key.rate ?? 'default', toPrintable(key.name)],
  ]);
  return toTable([['id', 'state', 'created', 'expires', 'last used', 'scopes', 'rate', 'name'], ...rows]);
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
  return `Key ${id} is revoked: ${REFUSED}.`;
}

/** Parses a number of days from now, or a future date (ISO 8601). @throws Error that names the option */
function toDate(option: string, text: string): Date {
  const days = /^(\d+)d?$/.exec(text)?.[1];
  const date = days ? new Date(Date.now() + Number(days) * 86_400_000) : new Date(text);
  const isDay = days !== undefined || (/^.{10}(T|$)/.test(text) && isDate(text.slice(0, 10)));
  if (!isDay || !(date.getTime() > Date.now() && date.getTime() <= LATEST)) {
    throw new Error(`--${option} must be a number of days or a future date, such as 30 or 2030-12-05, not ${text}`);
  }
  return date;
}

function toName(text: string): string {
  const name = text.trim();
  if (!new RegExp(NAME_PATTERN, 'u').test(name))
    throw new Error('A name has 1 to 100 characters, and none that a terminal takes for a command.');
  return name;
}

function toScopes(text: string, known: readonly string[]): string[] {
  const scopes = text.split(',');
  const unknown = scopes.filter((scope) => !known.includes(scope));
  if (unknown.length > 0) throw new Error(`--scopes must be of ${known.join(', ')}, not ${unknown.join(', ')}`);
  return [...new Set(scopes)];
}

function toRate(text: string): string {
  parseRate(text);
  return text;
}
