/**
 * Pages, kept as text for as long as they are true, whoever writes to the file. A page that has a next one does not change
 * when pets are added after it; a last page does. The database itself counts every other change (`pet_edits`).
 */
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { ReadPage } from './sqlite-pages.ts';
import type { Page } from './store.ts';

/** How much is kept of each kind of page at most, in characters; an entry's own weight counts as so many. */
const MAX_SIZE = 8_000_000;
const ENTRY_SIZE = 200;

export interface Pages {
  read: ReadPage;
  /** Lets the next read ask again, in this very turn: for who has written, and may read at once. */
  askAgain(): void;
}

/** The same pages, read once: `PRAGMA data_version` tells, once per turn of the event loop, whether others have written. */
export function cachePages(db: Database, readPage: ReadPage): Pages {
  const dataVersion = db.prepare<[], bigint>('PRAGMA data_version').pluck();
  const countEdits = db.prepare<[], bigint>('SELECT count FROM pet_edits').pluck();
  const fullPages = buildCache();
  const lastPages = buildCache();
  let version: bigint | undefined;
  let edits: bigint | undefined;
  let isChecked = false;

  function check(): void {
    isChecked = true;
    setImmediate(askAgain);
    const newVersion = dataVersion.get();
    if (newVersion === version) return;
    lastPages.clear();
    const newEdits = countEdits.get();
    if (newEdits !== edits) fullPages.clear();
    version = newVersion;
    edits = newEdits;
  }

  const read: ReadPage = (limit, status, after) => {
    if (!isChecked) check();
    const key = `${limit} ${after} ${status}`;
    const known = fullPages.get(key) ?? lastPages.get(key);
    if (known) return known;
    const page = readPage(limit, status, after);
    (page.next === undefined ? lastPages : fullPages).set(key, page);
    return page;
  };

  function askAgain(): void {
    isChecked = false;
  }

  return { read, askAgain };
}

function buildCache(): LRUCache<string, Page> {
  return new LRUCache({ maxSize: MAX_SIZE, sizeCalculation: ({ body }) => body.text.length + ENTRY_SIZE });
}
