/**
 * Pages, kept as text until the pets on them may have changed, whoever changed them. Pets that are added at the end change
 * last pages only, not full ones, which have a next page.
 */
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { Page } from '../store.ts';
import { watchChanges } from './changes.ts';
import type { ReadPage } from './pages.ts';
import type { Snapshots } from './snapshots.ts';

/** How much is kept of full pages and of last pages, in characters; each entry counts ENTRY_SIZE more. */
const MAX_SIZE = 8_000_000;
const ENTRY_SIZE = 200;
/** How long after a write a full page is still trusted, in milliseconds: the writer may have turned the triggers off. */
const MAX_TRUST = 1000;

/** Reads each page once. Looks for changes once per snapshot. */
export function cachePages(db: Database, snapshots: Snapshots, readPage: ReadPage): ReadPage {
  const readChange = watchChanges(db);
  const fullPages = buildCache();
  const lastPages = buildCache();
  let snapshot = 0;
  let trustedUntil = Number.POSITIVE_INFINITY;

  function forgetWhatChanged(): void {
    const change = readChange();
    const now = performance.now();
    if (change !== 'none') {
      lastPages.clear();
      trustedUntil = Math.min(trustedUntil, now + MAX_TRUST);
    }
    if (change === 'any' || now > trustedUntil) {
      fullPages.clear();
      trustedUntil = Number.POSITIVE_INFINITY;
    }
  }

  return (limit, status, after) => {
    const current = snapshots.enter();
    if (current !== snapshot) forgetWhatChanged();
    snapshot = current;
    // The status comes last, because it may be any text. V8 finds texts of up to 12 characters faster, so none adds nothing.
    const key = status === undefined ? `${limit},${after}` : `${limit},${after},${status}`;
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
