/**
 * Makes and hashes API keys. Also builds the SQL statements that store keys, and the times when keys were last used.
 * The client sees a key only once, when the key is made: the database stores only the key's hash.
 */
import { hash, randomBytes } from 'node:crypto';
import { type Dialect, sqlStep } from './changes/statement.ts';
import type { SqlSteps } from './collection.ts';
import type { KeyChanges, KeyUse, StoredKey } from './store.ts';

/**
 * The prefix of all API keys of a service, so that secret scanners recognise a leaked key. 48 hexadecimal digits follow
 * the prefix.
 */
export const toKeyPrefix = (service: string) => `${service}_`;

/** The prefix of the ids of keys from the setting `API_KEYS`. The ids of keys in the database never begin with it. */
export const CONFIGURED = 'API_KEYS.';

/**
 * The pattern of the names of keys: 1 to 100 characters, without a space at either end. Control characters, invisible
 * format characters, line separators and unpaired surrogates are not allowed.
 */
export const NAME_PATTERN = '^(?! )[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]{1,100}(?<! )$';

/** Makes a new API key: the service's prefix, and 192 random bits in hexadecimal digits. */
export function makeKey(service: string): string {
  return toKeyPrefix(service) + randomBytes(24).toString('hex');
}

/**
 * Returns the SHA-256 of a key in hexadecimal digits. A plain hash is safe, because keys are random: nobody can find a
 * key by hashing a list of words.
 */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Makes the record that the database stores for a new key, with a random id. */
export function toStoredKey(key: string, name: string, expiresAt?: Date, scopes?: string[], rate?: string): StoredKey {
  return {
    id: randomBytes(4).toString('hex'),
    name,
    hash: hashKey(key),
    createdAt: new Date().toISOString(),
    expiresAt: expiresAt?.toISOString(),
    scopes,
    rate,
  };
}

/** Whether a stored key is neither revoked nor expired at the time `now`, in milliseconds since 1970. */
export function isValid({ revokedAt, expiresAt }: StoredKey, now: number): boolean {
  return revokedAt == null && (expiresAt == null || now < Date.parse(expiresAt));
}

type KeyRow = [
  ...[id: string, name: string, hash: string, createdAt: string],
  ...[expiresAt: string | null, revokedAt: string | null, scopes: string | null, rate: string | null],
];

const COLUMNS = 'id, name, hash, created_at, expires_at, revoked_at, scopes, rate';

function toStatements({ nameOf, mark, keyState, keyOrder }: Dialect) {
  const table = nameOf({ name: 'api_keys' });
  const select = `SELECT ${COLUMNS} FROM ${table}`;
  return {
    insertInto: `INSERT INTO ${table} (${COLUMNS})`,
    /**
     * Returns the placeholders for the values of a row. `before` is the number of earlier placeholders in the same
     * statement.
     */
    marks: (before: number) => COLUMNS.split(',').map((_, index) => mark(before + index + 1)),
    selectAll: `${select} ORDER BY created_at, ${keyOrder}`,
    selectUnrevoked: `${select} WHERE revoked_at IS NULL`,
    selectChanged: `${select} WHERE changed > ${mark(1)}`,
    selectChanges: `SELECT ${keyState}, count, removed, salt FROM ${nameOf({ name: 'api_key_changes' })}`,
    revoke: `UPDATE ${table} SET revoked_at = ${mark(1)} WHERE id = ${mark(2)} AND revoked_at IS NULL RETURNING 1`,
    end: `
      UPDATE ${table} SET expires_at = CASE WHEN expires_at < ${mark(1)} THEN expires_at ELSE ${mark(2)} END
      WHERE id = ${mark(3)} AND revoked_at IS NULL RETURNING 1`,
  };
}

export function buildKeyRows(dialect: Dialect) {
  const statements = toStatements(dialect);
  const { insertInto, marks, end } = statements;
  const toInsert = (key: StoredKey) => sqlStep(`${insertInto} VALUES (${marks(0)})`, ...toRow(key));
  return {
    *insert(key: StoredKey): SqlSteps<void> {
      yield toInsert(key);
    },
    *list(): SqlSteps<StoredKey[]> {
      return (yield sqlStep(statements.selectAll)).map(fromRow);
    },
    *revoke(id: string, revokedAt: string): SqlSteps<boolean> {
      return (yield sqlStep(statements.revoke, revokedAt, id)).length === 1;
    },
    *replace(id: string, key: StoredKey, expiresAt: string): SqlSteps<boolean> {
      const ending = [expiresAt, expiresAt, id];
      const both = `WITH ended AS (${end}) ${insertInto} SELECT ${marks(ending.length)} FROM ended RETURNING 1`;
      if (dialect.nestsWrites) return (yield sqlStep(both, ...ending, ...toRow(key))).length === 1;
      if ((yield sqlStep(end, ...ending)).length === 0) return false;
      yield toInsert(key);
      return true;
    },
    *readChanges(since = ''): SqlSteps<KeyChanges> {
      const [row] = yield sqlStep(statements.selectChanges);
      const [state, count, removed, salt] = row as [unknown, string | bigint, string | bigint, string];
      const version = `${state} ${count}`;
      if (since === version) return { version, isAll: false, keys: [], salt };
      const [stateThen, text = ''] = since.split(' ');
      const known = BigInt(text);
      const isAll = stateThen !== String(state) || known < BigInt(removed) || known > BigInt(count);
      const rows = yield isAll ? sqlStep(statements.selectUnrevoked) : sqlStep(statements.selectChanged, known);
      return { version, isAll, keys: rows.map(fromRow), salt };
    },
    ...buildUseRows(dialect),
  };
}

function buildUseRows({ nameOf, elements }: Dialect) {
  const table = nameOf({ name: 'key_uses' });
  // Adds the rows in the order of their key ids: if two servers lock the rows in the same order, they never deadlock.
  const add = `
    INSERT INTO ${table} AS known (key_id, used_at)
    SELECT value ->> 'keyId', value ->> 'usedAt' FROM ${elements(1)} WHERE true ORDER BY 1
    ON CONFLICT (key_id) DO UPDATE SET used_at = excluded.used_at WHERE known.used_at < excluded.used_at`;
  const select = `SELECT key_id, used_at FROM ${table} ORDER BY key_id`;
  return {
    /**
     * Stores the last uses of keys, given as one JSON array: a single text is quick to copy to a thread, and one
     * statement can store all its uses.
     */
    *addUses(uses: string): SqlSteps<void> {
      yield sqlStep(add, uses);
    },
    *listUses(): SqlSteps<KeyUse[]> {
      const rows = (yield sqlStep(select)) as [keyId: string, usedAt: string][];
      return rows.map(([keyId, usedAt]) => ({ keyId, usedAt }));
    },
  };
}

function toRow({ id, name, hash, createdAt, expiresAt, revokedAt, scopes, rate }: StoredKey): KeyRow {
  return [id, name, hash, createdAt, expiresAt ?? null, revokedAt ?? null, scopes?.join(' ') ?? null, rate ?? null];
}

function fromRow(row: unknown[]): StoredKey {
  const [id, name, hash, createdAt, expiresAt, revokedAt, scopes, rate] = row as KeyRow;
  return {
    ...{ id, name, hash, createdAt },
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    scopes: scopes?.split(' ').filter(Boolean),
    rate: rate ?? undefined,
  };
}

const SHORTEST_KEY = 16;

/**
 * Returns the reasons why texts cannot be keys, such as `key 2 is shorter than 16 characters`. The reasons do not
 * repeat the texts, so that no key gets into a log.
 */
export const findKeyProblems = (keys: readonly string[]): string[] =>
  keys.flatMap((key, index) => [
    ...(key.length < SHORTEST_KEY ? [`key ${index + 1} is shorter than ${SHORTEST_KEY} characters`] : []),
    ...(/^[\w.~+/-]+=*$/.test(key) ? [] : [`key ${index + 1} is not a bearer token (RFC 6750, section 2.1)`]),
  ]);
