/** The pets in every database of the benchmark at its start: any number of them, known without a query. */
import { CONTRACT_DIGEST } from '../../src/generated/handlers.ts';
import { Sqlite } from '../../src/store/sqlite/kept-sqlite.ts';
import { loadMigrations, migrate } from '../../src/store/sqlite/migrate.ts';

/** By the remainder of the id: a quarter of the pets each, and a quarter without a status. */
const STATUSES = [undefined, 'available', 'pending', 'sold'];

/** The JSON text of a pet, as every server must send it. */
export function toText(id: number): string {
  return JSON.stringify({ id, name: `Pet ${id}`, categoryId: (id % 100) + 1, status: STATUSES[id % STATUSES.length] });
}

/** The JSON text of the first pets, or of the first with a status. */
export function toListText(limit: number, status?: string): string {
  const ids = Array.from({ length: limit }, (_, index) =>
    status ? index * STATUSES.length + STATUSES.indexOf(status) : index + 1,
  );
  return `[${ids.map(toText)}]`;
}

/** The same pets in SQL, which writes ten million of them in seconds. */
const SEED = `
  WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ?)
  INSERT INTO pets (id, name, category_id, status)
  SELECT id, 'Pet ' || id, id % 100 + 1, CASE id % 4 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' WHEN 3 THEN 'sold' END
  FROM ids`;

/** Makes a database with so many pets by the service's own migrations, as if it had served this contract before. */
export function seed(file: string, rows: number): void {
  const db = new Sqlite(file);
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  migrate(db, loadMigrations());
  db.prepare(SEED).run(rows);
  db.prepare('UPDATE passed_check SET contract = ?').run(CONTRACT_DIGEST);
  db.close();
}
