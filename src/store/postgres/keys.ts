/** API keys in PostgreSQL. */
import type { KeyChanges, StoredKey } from '../store.ts';
import type { Connection } from './connection.ts';

const COLUMNS = 'id, name, hash, created_at, expires_at, revoked_at, scopes, rate';

type KeyRow = [
  id: string,
  name: string,
  hash: string,
  createdAt: string,
  expiresAt: string | null,
  revokedAt: string | null,
  scopes: string | null,
  rate: string | null,
];

export function buildKeys(schema: string) {
  const table = `${schema}.api_keys`;
  const insert = `INSERT INTO ${table} (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;
  const selectAll = `SELECT ${COLUMNS} FROM ${table} ORDER BY created_at, place`;
  const selectUnrevoked = `SELECT ${COLUMNS} FROM ${table} WHERE revoked_at IS NULL`;
  const selectChanged = `SELECT ${COLUMNS} FROM ${table} WHERE changed > $1`;
  const revoke = `UPDATE ${table} SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING 1`;
  const replace = `WITH ended AS (UPDATE ${table} SET expires_at = least($10, expires_at)
      WHERE id = $9 AND revoked_at IS NULL RETURNING 1)
    INSERT INTO ${table} (${COLUMNS}) SELECT $1, $2, $3, $4, $5, $6, $7, $8 FROM ended RETURNING 1`;
  const selectChanges = `
    SELECT count, removed, salt, current_setting('transaction_read_only') FROM ${schema}.api_key_changes`;

  return {
    insert: async (connection: Connection, key: StoredKey) => {
      await connection.query(insert, toRow(key));
    },
    list: async (connection: Connection) => toStoredKeys(await connection.query(selectAll)),
    revoke: async (connection: Connection, id: string, revokedAt: string) =>
      (await connection.query(revoke, [revokedAt, id])).length === 1,
    replace: async (connection: Connection, id: string, key: StoredKey, expiresAt: string) =>
      (await connection.query(replace, [...toRow(key), id, expiresAt])).length === 1,
    /** Undefined if the server is read-only. */
    readChanges: async (connection: Connection, since?: string): Promise<KeyChanges | undefined> => {
      const [changes] = (await connection.query(selectChanges)) as [[string, string, string, string]];
      const [version, removed, salt, isReadOnly] = changes;
      if (isReadOnly === 'on') return undefined;
      if (since === version) return { version, isAll: false, keys: [], salt };
      const known = BigInt(since ?? -1);
      const isAll = known < BigInt(removed) || known > BigInt(version);
      const rows = await (isAll ? connection.query(selectUnrevoked) : connection.query(selectChanged, [since]));
      return { version, isAll, keys: toStoredKeys(rows), salt };
    },
  };
}

function toRow({ id, name, hash, createdAt, expiresAt, revokedAt, scopes, rate }: StoredKey): KeyRow {
  const scopeList = scopes?.join(' ') ?? null;
  return [id, name, hash, createdAt, expiresAt ?? null, revokedAt ?? null, scopeList, rate ?? null];
}

function toStoredKeys(rows: unknown[]): StoredKey[] {
  return (rows as KeyRow[]).map(([id, name, hash, createdAt, expiresAt, revokedAt, scopes, rate]) => ({
    ...{ id, name, hash, createdAt },
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    scopes: scopes?.split(' ').filter(Boolean),
    rate: rate ?? undefined,
  }));
}
