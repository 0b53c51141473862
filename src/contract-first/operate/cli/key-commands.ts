/** The commands of `keys`. */
import { parseArgs } from 'node:util';
import { toPrintable } from '../../json/literals.ts';
import type { Service } from '../../service.ts';
import { isValid, makeKey, NAME_PATTERN, toStoredKey } from '../../store/api-keys.ts';
import { parseRate } from '../../store/rates.ts';
import type { Store, StoredKey } from '../../store/store.ts';
import { isDay } from '../config.ts';
import { PROGRAM, UsageError } from './command.ts';

/** The part of a service that keys are made for. */
type Keyed = Pick<Service, 'name' | 'scopes'>;

export interface KeyCommand {
  /** Returns the text to print. @throws Error whose message is printed */
  run(store: Store): Promise<string>;
  /** Whether the command may create the database. */
  makesDatabase: boolean;
}

export const toUsage = ({ scopes }: Keyed) =>
  `${PROGRAM} keys create <name> [<option>...]                      makes a key and shows it, once
  ${PROGRAM} keys rotate <id> [--keep <when>] [--expires <when>]   makes a key in place of another, which ends
  ${PROGRAM} keys list                                             lists the keys, never the keys themselves
  ${PROGRAM} keys revoke <id>                                      refuses a key from now on

Options of create: --expires <when>, --scopes <scope,...> and --rate <requests>/<s, m, h or d>, such as 100/s, or none.
A name has 1 to 100 characters. <when> is a number of days or a date. Without --scopes a key may do everything${scopes.length > 0 ? `; the scopes are ${scopes.join(', ')}` : ''}.
Without --rate a key may be used as often as KEY_RATE says. A key that is rotated stays valid for 7 days, or as --keep says; the new one expires when the old one would have, or as --expires says.`;

/** The latest date: stores compare times as text, which needs years of four digits. */
const LATEST = Date.UTC(9999, 11, 31);

/** @throws UsageError, or Error that says which value is wrong */
export function readCommand(args: string[], service: Keyed): KeyCommand {
  const { positionals, values } = parse(args);
  const [name = '', subject = '', ...rest] = positionals;
  const shape = SHAPES[name];
  const isUnknown = Object.keys(values).some((option) => !shape?.options.includes(option));
  if (!shape || isUnknown || rest.length > 0 || shape.hasSubject !== (subject !== '')) throw new UsageError();
  const options = {
    key: makeKey(service.name),
    expiresAt: values.expires === undefined ? undefined : toDate('expires', values.expires),
    keptUntil: toDate('keep', values.keep ?? '7'),
    scopes: values.scopes === undefined ? undefined : toScopes(values.scopes, service.scopes),
    rate: values.rate === undefined ? undefined : toRate(values.rate),
  };
  const isCreate = name === 'create';
  const checked = isCreate ? toName(subject) : subject;
  return { run: (store) => shape.run(store, checked, options), makesDatabase: isCreate };
}

interface Options {
  /** A new key. */
  key: string;
  expiresAt: Date | undefined;
  keptUntil: Date;
  scopes: string[] | undefined;
  rate: string | undefined;
}

interface Shape {
  run(store: Store, subject: string, options: Options): Promise<string>;
  hasSubject: boolean;
  options: string[];
}

const SHAPES: Record<string, Shape> = {
  create: { run: create, hasSubject: true, options: ['expires', 'scopes', 'rate'] },
  rotate: { run: rotate, hasSubject: true, options: ['expires', 'keep'] },
  list: { run: list, hasSubject: false, options: [] },
  revoke: { run: revoke, hasSubject: true, options: [] },
};

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const options = { expires: text, keep: text, scopes: text, rate: text };
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch {
    throw new UsageError();
  }
}

async function create(store: Store, name: string, { key, expiresAt, scopes, rate }: Options): Promise<string> {
  const stored = toStoredKey(key, name, expiresAt, scopes, rate);
  await store.createKey(stored);
  return toMade(stored, key);
}

async function rotate(store: Store, id: string, { key, expiresAt, keptUntil }: Options): Promise<string> {
  const keys = await store.listKeys();
  const old = keys.find((key) => key.id === id && isValid(key, Date.now()));
  const expiry = expiresAt ?? (old?.expiresAt === undefined ? undefined : new Date(old.expiresAt));
  const stored = old && toStoredKey(key, old.name, expiry, old.scopes, old.rate);
  if (!stored || !(await store.replaceKey(id, stored, keptUntil.toISOString())))
    throw new Error(`There is no valid key ${id}.`);
  return `${toMade(stored, key)}\n\nKey ${id} is valid until ${keptUntil.toISOString()} at most.`;
}

function toMade({ id, name, expiresAt, scopes, rate }: StoredKey, key: string): string {
  const often = rate ? `, at the rate ${rate}` : '';
  const end = expiresAt ? `valid until ${expiresAt}` : 'without expiry';
  return `Key ${id} (${toPrintable(name)}), ${end}, for ${scopes?.join(' and ') ?? 'everything'}${often}:

  ${key}

It is not shown again: only its hash is stored.`;
}

async function list(store: Store): Promise<string> {
  const [keys, uses] = await Promise.all([store.listKeys(), store.listUses()]);
  if (keys.length === 0) return 'There are no keys.';
  const rows = keys.map((key) => [
    ...[key.id, stateOf(key), key.createdAt, key.expiresAt ?? 'never'],
    uses.find(({ keyId }) => keyId === key.id)?.usedAt ?? 'never',
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
  return `Key ${id} is revoked: running servers refuse it within a second.`;
}

/** A number of days from now, or a future date (ISO 8601). */
function toDate(option: string, text: string): Date {
  const days = /^(\d+)d?$/.exec(text)?.[1];
  const date = days ? new Date(Date.now() + Number(days) * 86_400_000) : new Date(text);
  const isDate = days !== undefined || (/^\d{4}-\d\d-\d\d(T|$)/.test(text) && isDay(text.slice(0, 10)));
  if (!isDate || !(date.getTime() > Date.now() && date.getTime() <= LATEST)) {
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
