/** Brings a database to this program's schema. Forward only: a database of a newer program is refused, never changed. */
import type { Database } from 'better-sqlite3';
import { readMigrations } from '../migrations.ts';

const MIGRATIONS = new URL('migrations/', import.meta.url);

export const loadMigrations = () => readMigrations(MIGRATIONS);

/** @throws Error when the schema is newer than the program's; an SqliteError leaves the database as it was */
export function migrate(db: Database, migrations: string[]): void {
  const version = () => Number(db.pragma('user_version', { simple: true }));
  if (version() === migrations.length) return;
  const run = db.transaction(() => {
    if (version() > migrations.length) {
      throw new Error(`its schema has version ${version()}, and this program knows ${migrations.length} at most`);
    }
    for (const sql of migrations.slice(version())) db.exec(sql);
    db.pragma(`user_version = ${migrations.length}`);
  });
  run.immediate();
}
