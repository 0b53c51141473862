/**
 * Pages, kept as text for as long as they are true, whoever writes to the file. A page that has a next one does not change
 * when pets are added after it; a last page does. The database itself counts every other change (`pet_edits`).
 */
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { Page } from '../store.ts';
import type { ReadPage } from './pages.ts';
import type { Snapshots } from './snapshots.ts';

/** How much is kept of each kind of page at most, in characters; an entry's own weight counts as so many. */
const MAX_SIZE = 8_000_000;
const ENTRY_SIZE = 200;

/** The same pages, read once: `PRAGMA data_version` tells, once per snapshot, whether others have written. */
export function cachePages(db: Database, snapshots: Snapshots, readPage: ReadPage): ReadPage {
  const dataVersion = db.prepare<[], bigint>('PRAGMA data_version').pluck();
  const countEdits = db.prepare<[], bigint>('SELECT count FROM pet_edits').pluck();
  const fullPages = buildCache();
  const lastPages = buildCache();
  let snapshot = 0;
  let version: bigint | undefined;
  let edits: bigint | undefined;

  function forgetWhatChanged(): void {
    const newVersion = dataVersion.get();
    if (newVersion === version) return;
    lastPages.clear();
    const newEdits = countEdits.get();
    if (newEdits !== edits) fullPages.clear();
    version = newVersion;
    edits = newEdits;
  }

  return (limit, status, after) => {
    const current = snapshots.enter();
    if (current !== snapshot) forgetWhatChanged();
    snapshot = current;
    const key = `${limit} ${after} ${status}`;
    const known = fullPages.get(key) ?? lastPages.get(key);
    if (known) return known;
    const page = readPage(limit, status, after);
    (page.next === undefined ? lastPages : fullPages).set(key, page);
    return page;
  };
}

function buildCache(): LRUCache<string, Page> {
  return new LRUCache({ maxSize: MAX_SIZE, sizeCalculation: ({ body }) => body.text.length + ENTRY_SIZE });
}
