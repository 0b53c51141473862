/** What a start would find in a database file. */
import { existsSync } from 'node:fs';
import type { AnyDomain } from '../description.ts';
import { loadParts, newestOf } from '../migrations.ts';
import type { Inspection } from '../store.ts';
import { Sqlite } from './kept-sqlite.ts';

const COUNT = `SELECT count(*) AS keys, count(*) FILTER (WHERE revoked_at IS NULL AND ifnull(expires_at > ?, true)) AS validKeys
  FROM api_keys`;

/** Of memory where no file is named. @throws Error when it cannot be read, or is no database */
export function inspectSqlite(file: string | undefined, domain: AnyDomain): Inspection {
  const newest = newestOf(loadParts('sqlite', domain));
  if (file === undefined || !existsSync(file)) return { version: 0, newest, validKeys: 0, keys: 0 };
  // A reader leaves the files of SQLite's log behind, and a writer removes them: so the one that changes nothing.
  const db = new Sqlite(file, { readonly: existsSync(`${file}-wal`), fileMustExist: true });
  try {
    const version = Number(db.pragma('user_version', { simple: true }));
    const hasKeys = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'api_keys'").get() !== undefined;
    const none = { validKeys: 0, keys: 0 };
    return {
      version,
      newest,
      ...(hasKeys ? db.prepare<[string], typeof none>(COUNT).get(new Date().toISOString()) : none),
    } as Inspection;
  } finally {
    db.close();
  }
}
