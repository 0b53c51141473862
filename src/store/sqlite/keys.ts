/** API keys, as rows. */
import type { Database } from 'better-sqlite3';
import type { StoredKey } from '../store.ts';
import { inTransaction } from './transaction.ts';

const KEY = 'id, name, hash, created_at AS createdAt, expires_at AS expiresAt, revoked_at AS revokedAt';

interface KeyRow extends Omit<StoredKey, 'expiresAt' | 'revokedAt'> {
  expiresAt: string | null;
  revokedAt: string | null;
}

export function prepareKeys(db: Database) {
  const insert = db.prepare('INSERT INTO api_keys VALUES (@id, @name, @hash, @createdAt, @expiresAt, @revokedAt)');
  const selectAll = db.prepare<[], KeyRow>(`SELECT ${KEY} FROM api_keys ORDER BY created_at, rowid`);
  const selectValid = db.prepare<[string], KeyRow>(
    `SELECT ${KEY} FROM api_keys WHERE revoked_at IS NULL AND ifnull(expires_at > ?, true)`,
  );
  const revoke = db.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  const readOthers = db.prepare<[], bigint>('PRAGMA data_version').pluck();
  const readOwn = db.prepare<[], bigint>('SELECT total_changes()').pluck();

  return {
    insert: inTransaction(db, ({ expiresAt = null, revokedAt = null, ...key }: StoredKey | KeyRow) => {
      insert.run({ ...key, expiresAt, revokedAt });
    }),
    list: () => selectAll.all().map(toStoredKey),
    listValid: (now: string) => selectValid.all(now).map(toStoredKey),
    revoke: inTransaction(db, (id: string, revokedAt: string) => revoke.run(revokedAt, id).changes === 1),
    /** Changes with every write, by any connection. */
    version: () => `${readOthers.get()} ${readOwn.get()}`,
  };
}

function toStoredKey({ expiresAt, revokedAt, ...key }: KeyRow): StoredKey {
  return { ...key, expiresAt: expiresAt ?? undefined, revokedAt: revokedAt ?? undefined };
}
