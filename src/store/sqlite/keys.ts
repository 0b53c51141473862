/** API keys in SQLite. */
import type { Database } from 'better-sqlite3';
import type { KeyChanges, StoredKey } from '../store.ts';
import { inTransaction } from './transaction.ts';

const KEY = 'id, name, hash, created_at AS createdAt, expires_at AS expiresAt, revoked_at AS revokedAt, scopes, rate';

interface KeyRow extends Omit<StoredKey, 'expiresAt' | 'revokedAt' | 'scopes' | 'rate'> {
  expiresAt: string | null;
  revokedAt: string | null;
  scopes: string | null;
  rate: string | null;
}

export function prepareKeys(db: Database) {
  const insert = db.prepare(
    `INSERT INTO api_keys (id, name, hash, created_at, expires_at, revoked_at, scopes, rate)
      VALUES (@id, @name, @hash, @createdAt, @expiresAt, @revokedAt, @scopes, @rate)`,
  );
  const selectAll = db.prepare<[], KeyRow>(`SELECT ${KEY} FROM api_keys ORDER BY created_at, rowid`);
  const selectUnrevoked = db.prepare<[], KeyRow>(`SELECT ${KEY} FROM api_keys WHERE revoked_at IS NULL`);
  const selectChanged = db.prepare<[bigint], KeyRow>(`SELECT ${KEY} FROM api_keys WHERE changed > ?`);
  const revoke = db.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  const end = db.prepare(
    'UPDATE api_keys SET expires_at = min(@expiresAt, ifnull(expires_at, @expiresAt)) WHERE id = @id AND revoked_at IS NULL',
  );
  const selectChanges = db.prepare<[], Changes>('SELECT count, removed, salt FROM api_key_changes');
  /** The schema version also changes when a backup is restored. */
  const readSchema = db.prepare<[], bigint>('PRAGMA schema_version').pluck();

  return {
    insert: inTransaction(db, (key: StoredKey) => {
      insert.run(toRow(key));
    }),
    list: () => selectAll.all().map(toStoredKey),
    revoke: inTransaction(db, (id: string, revokedAt: string) => revoke.run(revokedAt, id).changes === 1),
    replace: inTransaction(db, (id: string, key: StoredKey, expiresAt: string) => {
      const isThere = end.run({ id, expiresAt }).changes === 1;
      if (isThere) insert.run(toRow(key));
      return isThere;
    }),
    readChanges: (since = ''): KeyChanges => {
      const schema = readSchema.get() as bigint;
      const { count, removed, salt } = selectChanges.get() as Changes;
      const version = `${schema} ${count}`;
      if (since === version) return { version, isAll: false, keys: [], salt };
      const [ofSchema, known = 0n] = since.split(' ').map(BigInt);
      const isAll = ofSchema !== schema || known < removed || known > count;
      const rows = isAll ? selectUnrevoked.all() : selectChanged.all(known);
      return { version, isAll, keys: rows.map(toStoredKey), salt };
    },
  };
}

/** The numbers of the last change, and of the last removal. */
interface Changes {
  count: bigint;
  removed: bigint;
  salt: string;
}

function toRow({ expiresAt, revokedAt, scopes, rate, ...key }: StoredKey): KeyRow {
  const ends = { expiresAt: expiresAt ?? null, revokedAt: revokedAt ?? null };
  return { ...key, ...ends, scopes: scopes?.join(' ') ?? null, rate: rate ?? null };
}

function toStoredKey({ expiresAt, revokedAt, scopes, rate, ...key }: KeyRow): StoredKey {
  return {
    ...key,
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    scopes: scopes?.split(' ').filter(Boolean),
    rate: rate ?? undefined,
  };
}
