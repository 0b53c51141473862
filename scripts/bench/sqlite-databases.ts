/** Databases of SQLite: files. */
import { closeSync, copyFileSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { domain } from '../../src/generated/domain.ts';
import { CONTRACT_DIGEST } from '../../src/generated/handlers.ts';
import { Sqlite } from '../../src/store/sqlite/kept-sqlite.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';
import type { Databases } from './databases.ts';
import { VALUES } from './pets.ts';

/** Writes ten million pets in seconds. */
const SEED = `
  WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ?)
  INSERT INTO pets (id, name, category_id, status) SELECT ${VALUES} FROM ids`;

export function buildSqliteDatabases(directory: string): Databases {
  const toFile = (name: string | number) => join(directory, `${name}.db`);
  return {
    seed: async (rows) => {
      const db = new Sqlite(toFile(rows));
      db.pragma('journal_mode = OFF');
      db.pragma('synchronous = OFF');
      migrate(db, domain);
      db.prepare(SEED).run(rows);
      db.prepare('UPDATE passed_check SET contract = ?').run(CONTRACT_DIGEST);
      db.close();
    },
    copy: async (rows, name) => {
      const path = toFile(name);
      copyFileSync(toFile(rows), path);
      const file = openSync(path, 'r+');
      fsyncSync(file);
      closeSync(file);
      return {
        url: `sqlite:${path}`,
        drop: async () => {
          for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
        },
      };
    },
    stop: async () => {},
  };
}
