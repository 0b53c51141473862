/** The store on SQLite: one file, or memory. Reads here, in the event loop; writes in a thread of their own. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { JsonText } from '../json-text.ts';
import { loadMigrations, migrate } from './migrate.ts';
import { cachePages } from './page-cache.ts';
import { openConnection, toFailure } from './sqlite-connection.ts';
import { prepareInsertPets } from './sqlite-insert.ts';
import { PET_JSON, prepareReadPage } from './sqlite-pages.ts';
import { startWriter, type Writer } from './sqlite-write-queue.ts';
import type { Pet, Store, StoredKey } from './store.ts';

const KEY = 'id, name, hash, created_at AS createdAt, expires_at AS expiresAt, revoked_at AS revokedAt';

/** @throws SqliteError when the file cannot be opened; Error when its schema is newer than this program's */
export function openSqlite(file: string): Store {
  const inMemory = file === ':memory:';
  if (!inMemory) mkdirSync(dirname(file), { recursive: true });
  const db = openConnection(file);
  migrate(db, loadMigrations());

  const readPage = inMemory ? prepareReadPage(db) : cachePages(db, prepareReadPage(db));
  const get = db.prepare<[bigint], string>(`SELECT ${PET_JSON} FROM pets WHERE id = ?`).pluck();
  const insertKey = db.prepare('INSERT INTO api_keys VALUES (@id, @name, @hash, @createdAt, @expiresAt, @revokedAt)');
  const selectKeys = db.prepare<[], StoredKey>(`SELECT ${KEY} FROM api_keys ORDER BY created_at, id`);
  const revoke = db.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  const writer = inMemory ? writeInPlace(db) : startWriter(file);

  return guard({
    createPet: async (pet) => ({ id: await writer.write(pet), ...pet }),
    getPet: (id) => {
      const text = get.get(id);
      return text === undefined ? undefined : new JsonText<Pet>(text);
    },
    listPets: ({ limit, status, after = 0n }) => readPage(limit, status, after),
    createKey: (key) => void insertKey.run({ expiresAt: null, revokedAt: null, ...key }),
    listKeys: () => selectKeys.all(),
    revokeKey: (id, revokedAt) => revoke.run(revokedAt, id).changes === 1,
    check: () => void get.get(0n),
    close: async () => {
      await writer.stop();
      db.close();
    },
  });
}

/** Memory has no fsync to wait for, and is seen by one connection only. */
function writeInPlace(db: Database): Writer {
  const insertPets = prepareInsertPets(db);
  return { write: async (pet) => insertPets([pet])[0] as bigint, stop: async () => {} };
}

/** The store, with SQLite's outages told as a Failure. */
function guard(store: Store): Store {
  const guarded = Object.entries(store).map(([name, method]) => [
    name,
    (...values: unknown[]) => {
      try {
        return method(...values);
      } catch (error) {
        throw toFailure(error);
      }
    },
  ]);
  return Object.fromEntries(guarded);
}
