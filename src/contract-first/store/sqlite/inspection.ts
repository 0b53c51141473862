/** Inspects a database file for `--check`. */
import { existsSync } from 'node:fs';
import type { AnyDomain } from '../description.ts';
import type { Inspection } from '../store.ts';
import { checkMap } from './connection.ts';
import { Sqlite } from './kept-sqlite.ts';
import { planToMigrate } from './migrate.ts';

const COUNT = `SELECT count(*) AS keys, count(*) FILTER (WHERE revoked_at IS NULL AND ifnull(expires_at > ?, true)) AS validKeys
  FROM api_keys`;
const NO_KEYS = { validKeys: 0, keys: 0 };

/** Without a file, inspects a new database in memory. @throws Error if the start would fail on this database */
export function inspectSqlite(file: string | undefined, domain: AnyDomain): Inspection {
  if (file !== undefined) checkMap(file);
  const place = file !== undefined && existsSync(file) ? file : ':memory:';
  // Changes no files: a read-only connection would leave files of SQLite's log behind, and any other would remove existing ones.
  const db = new Sqlite(place, { readonly: existsSync(`${place}-wal`) });
  try {
    db.pragma('query_only = ON');
    const planned = planToMigrate(db, domain);
    const count = planned.version > 0 ? db.prepare<[string], typeof NO_KEYS>(COUNT) : undefined;
    return { ...planned, ...(count?.get(new Date().toISOString()) ?? NO_KEYS) };
  } finally {
    db.close();
  }
}
