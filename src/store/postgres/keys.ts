/** API keys, as rows. */
import type { StoredKey } from '../store.ts';
import type { Connection } from './connection.ts';

const COLUMNS = 'id, name, hash, created_at, expires_at, revoked_at';

type KeyRow = [
  id: string,
  name: string,
  hash: string,
  createdAt: string,
  expiresAt: string | null,
  revokedAt: string | null,
];

export function buildKeys(schema: string) {
  const table = `${schema}.api_keys`;
  const insert = `INSERT INTO ${table} (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)`;
  const selectAll = `SELECT ${COLUMNS} FROM ${table} ORDER BY created_at, place`;
  const selectValid = `SELECT ${COLUMNS} FROM ${table} WHERE revoked_at IS NULL AND coalesce(expires_at > $1, true)`;
  const revoke = `UPDATE ${table} SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING 1`;
  const selectVersion = `SELECT count, current_setting('transaction_read_only') FROM ${schema}.api_key_changes`;

  return {
    insert: async (connection: Connection, { id, name, hash, createdAt, expiresAt, revokedAt }: StoredKey) => {
      await connection.query(insert, [id, name, hash, createdAt, expiresAt ?? null, revokedAt ?? null]);
    },
    list: async (connection: Connection) => toStoredKeys(await connection.query(selectAll)),
    listValid: async (connection: Connection, now: string) => toStoredKeys(await connection.query(selectValid, [now])),
    revoke: async (connection: Connection, id: string, revokedAt: string) =>
      (await connection.query(revoke, [revokedAt, id])).length === 1,
    /** Counts the changes, whoever made them; undefined where the server can only be read. */
    version: async (connection: Connection) => {
      const [[count, isReadOnly]] = (await connection.query(selectVersion)) as [[string, string]];
      return isReadOnly === 'on' ? undefined : count;
    },
  };
}

function toStoredKeys(rows: unknown[]): StoredKey[] {
  return (rows as KeyRow[]).map(([id, name, hash, createdAt, expiresAt, revokedAt]) => ({
    ...{ id, name, hash, createdAt },
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
  }));
}
