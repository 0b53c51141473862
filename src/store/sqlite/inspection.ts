/** What a start would find in a database file. */
import { existsSync } from 'node:fs';
import type { AnyDomain } from '../description.ts';
import type { Inspection } from '../store.ts';
import { checkMap } from './connection.ts';
import { Sqlite } from './kept-sqlite.ts';
import { tryMigrate } from './migrate.ts';

const COUNT = `SELECT count(*) AS keys, count(*) FILTER (WHERE revoked_at IS NULL AND ifnull(expires_at > ?, true)) AS validKeys
  FROM api_keys`;
const NO_KEYS = { validKeys: 0, keys: 0 };

/** Inspects a database in memory where no file is named. @throws Error when it cannot be read or made, is no database, or not one that a start would take */
export function inspectSqlite(file: string | undefined, domain: AnyDomain): Inspection {
  if (file !== undefined) checkMap(file);
  const place = file !== undefined && existsSync(file) ? file : ':memory:';
  // A reader leaves the files of SQLite's log behind, and a writer removes them: so the one that changes nothing.
  const db = new Sqlite(place, { readonly: existsSync(`${place}-wal`) });
  try {
    const { from: version, to: newest } = tryMigrate(db, domain);
    const keys = version > 0 ? db.prepare<[string], typeof NO_KEYS>(COUNT).get(new Date().toISOString()) : undefined;
    return { version, newest, ...(keys ?? NO_KEYS) };
  } finally {
    db.close();
  }
}
