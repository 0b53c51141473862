/** The store on SQLite: one file, or memory. Reads here, in the event loop; writes in a thread of their own. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { JsonText } from '../json-text.ts';
import { loadMigrations, migrate } from './migrate.ts';
import { openConnection, toFailure } from './sqlite-connection.ts';
import { prepareInsertPets } from './sqlite-insert.ts';
import { startWriter, type Writer } from './sqlite-write-queue.ts';
import type { Page, Pet, PetStatus, Store, StoredKey } from './store.ts';

/** A pet as the contract's JSON: a status that is absent stays out. */
const PET = `CASE WHEN status IS NULL
  THEN json_object('id', id, 'name', name, 'categoryId', category_id)
  ELSE json_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)
END`;

/** SQLite prepares a statement anew at every bind of a bare `LIMIT ?`, and not for an expression. */
const listSql = (filter: string) => `
  SELECT json_group_array(json(pet)), count(*), max(id)
  FROM (SELECT id, ${PET} AS pet FROM pets WHERE ${filter} id > ? ORDER BY id LIMIT +?)`;
const moreSql = (filter: string) => `SELECT EXISTS (SELECT 1 FROM pets WHERE ${filter} id > ?)`;
const BY_STATUS = 'status = ? AND';

const KEY = 'id, name, hash, created_at AS createdAt, expires_at AS expiresAt, revoked_at AS revokedAt';

type PageRow = [text: string, count: bigint, last: bigint | null];

/** @throws SqliteError when the file cannot be opened; Error when its schema is newer than this program's */
export function openSqlite(file: string): Store {
  const inMemory = file === ':memory:';
  if (!inMemory) mkdirSync(dirname(file), { recursive: true });
  const db = openConnection(file);
  migrate(db, loadMigrations());

  const writer = inMemory ? writeInPlace(db) : startWriter(file);
  const get = db.prepare<[bigint], string>(`SELECT ${PET} FROM pets WHERE id = ?`).pluck();
  const list = db.prepare<unknown[], PageRow>(listSql('')).raw();
  const listByStatus = db.prepare<unknown[], PageRow>(listSql(BY_STATUS)).raw();
  const more = db.prepare<unknown[], bigint>(moreSql('')).pluck();
  const moreByStatus = db.prepare<unknown[], bigint>(moreSql(BY_STATUS)).pluck();
  const insertKey = db.prepare('INSERT INTO api_keys VALUES (@id, @name, @hash, @createdAt, @expiresAt, @revokedAt)');
  const selectKeys = db.prepare<[], StoredKey>(`SELECT ${KEY} FROM api_keys ORDER BY created_at, id`);
  const revoke = db.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');

  function listPets(limit: number, status: PetStatus | undefined, after: bigint): Page {
    const filter = status === undefined ? [] : [status];
    const [text, count, last] = (status ? listByStatus : list).get(...filter, after, limit) as PageRow;
    const isMore =
      last !== null && count === BigInt(limit) && (status ? moreByStatus : more).get(...filter, last) === 1n;
    return { body: new JsonText(text), next: isMore ? last : undefined };
  }

  return guard({
    createPet: async (pet) => ({ id: await writer.write(pet), ...pet }),
    getPet: (id) => {
      const text = get.get(id);
      return text === undefined ? undefined : new JsonText<Pet>(text);
    },
    listPets: ({ limit, status, after = 0n }) => listPets(limit, status, after),
    createKey: (key) => void insertKey.run({ expiresAt: null, revokedAt: null, ...key }),
    listKeys: () => selectKeys.all(),
    revokeKey: (id, revokedAt) => revoke.run(revokedAt, id).changes === 1,
    check: () => void more.get(0n),
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
