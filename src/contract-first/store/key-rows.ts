/** The statements of API keys and their uses, for both databases. */
import { type Asking, ask } from './asking.ts';
import type { Dialect } from './statement.ts';
import type { KeyChanges, KeyUse, StoredKey } from './store.ts';

type KeyRow = [
  ...[id: string, name: string, hash: string, createdAt: string],
  ...[expiresAt: string | null, revokedAt: string | null, scopes: string | null, rate: string | null],
];

const COLUMNS = 'id, name, hash, created_at, expires_at, revoked_at, scopes, rate';

function toStatements({ nameOf, mark, keyState }: Dialect) {
  const table = nameOf({ name: 'api_keys' });
  const select = `SELECT ${COLUMNS} FROM ${table}`;
  return {
    insertInto: `INSERT INTO ${table} (${COLUMNS})`,
    /** The places of a row's values, behind so many others. */
    marks: (before: number) => COLUMNS.split(',').map((_, index) => mark(before + index + 1)),
    selectAll: `${select} ORDER BY created_at, rowid`,
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
  const toInsert = (key: StoredKey) => ask(`${insertInto} VALUES (${marks(0)})`, ...toRow(key));
  return {
    *insert(key: StoredKey): Asking<void> {
      yield toInsert(key);
    },
    *list(): Asking<StoredKey[]> {
      return (yield ask(statements.selectAll)).map(toStoredKey);
    },
    *revoke(id: string, revokedAt: string): Asking<boolean> {
      return (yield ask(statements.revoke, revokedAt, id)).length === 1;
    },
    *replace(id: string, key: StoredKey, expiresAt: string): Asking<boolean> {
      const ending = [expiresAt, expiresAt, id];
      const both = `WITH ended AS (${end}) ${insertInto} SELECT ${marks(ending.length)} FROM ended RETURNING 1`;
      if (dialect.nestsWrites) return (yield ask(both, ...ending, ...toRow(key))).length === 1;
      if ((yield ask(end, ...ending)).length === 0) return false;
      yield toInsert(key);
      return true;
    },
    *readChanges(since = ''): Asking<KeyChanges> {
      const [row] = yield ask(statements.selectChanges);
      const [state, count, removed, salt] = row as [unknown, string | bigint, string | bigint, string];
      const version = `${state} ${count}`;
      if (since === version) return { version, isAll: false, keys: [], salt };
      const [stateThen, text = ''] = since.split(' ');
      const known = BigInt(text);
      const isAll = stateThen !== String(state) || known < BigInt(removed) || known > BigInt(count);
      const rows = yield isAll ? ask(statements.selectUnrevoked) : ask(statements.selectChanged, known);
      return { version, isAll, keys: rows.map(toStoredKey), salt };
    },
    ...buildUseRows(dialect),
  };
}

function buildUseRows({ nameOf, elements }: Dialect) {
  const table = nameOf({ name: 'key_uses' });
  // Ordered, so that two servers never deadlock.
  const add = `
    INSERT INTO ${table} AS known (key_id, used_at)
    SELECT value ->> 'keyId', value ->> 'usedAt' FROM ${elements(1)} WHERE true ORDER BY 1
    ON CONFLICT (key_id) DO UPDATE SET used_at = excluded.used_at WHERE known.used_at < excluded.used_at`;
  const select = `SELECT key_id, used_at FROM ${table} ORDER BY key_id`;
  return {
    /** Takes the uses as a JSON array: one text to copy to a thread, and one statement. */
    *addUses(uses: string): Asking<void> {
      yield ask(add, uses);
    },
    *listUses(): Asking<KeyUse[]> {
      const rows = (yield ask(select)) as [keyId: string, usedAt: string][];
      return rows.map(([keyId, usedAt]) => ({ keyId, usedAt }));
    },
  };
}

function toRow({ id, name, hash, createdAt, expiresAt, revokedAt, scopes, rate }: StoredKey): KeyRow {
  return [id, name, hash, createdAt, expiresAt ?? null, revokedAt ?? null, scopes?.join(' ') ?? null, rate ?? null];
}

function toStoredKey(row: unknown[]): StoredKey {
  const [id, name, hash, createdAt, expiresAt, revokedAt, scopes, rate] = row as KeyRow;
  return {
    ...{ id, name, hash, createdAt },
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    scopes: scopes?.split(' ').filter(Boolean),
    rate: rate ?? undefined,
  };
}
