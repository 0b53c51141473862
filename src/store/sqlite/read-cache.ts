/**
 * Pages and records, kept as text until a record may have changed, whoever changed it. Records that are added at the end change last
 * pages only, not full ones, which have a next page.
 */
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { JsonText } from '../../json/json-text.ts';
import type { Fields, Page, PageQuery } from '../collection.ts';
import type { StoreCounts } from '../counts.ts';
import type { Table } from '../table.ts';
import { watchChanges } from './changes.ts';
import type { ReadPage } from './pages.ts';
import { buildSlots } from './slots.ts';
import type { Snapshots } from './snapshots.ts';

/** The record with this id. */
type ReadRecord = (id: bigint) => JsonText<Fields> | undefined;

export interface Reads {
  readPage: ReadPage;
  readRecord: ReadRecord;
}

/** How much each of the three caches keeps, in characters; a page counts PAGE_SIZE more. */
const MAX_SIZE = 8_000_000;
const PAGE_SIZE = 200;
/** How long after a write full pages and records are still trusted, in milliseconds: the writer may have turned the triggers off. */
const MAX_TRUST = 1000;

/** Reads only what is not kept. Looks for changes once per snapshot. */
export function cacheReads(
  db: Database,
  table: Table,
  snapshots: Snapshots,
  { readPage, readRecord }: Reads,
  counts: StoreCounts,
): Reads {
  const pageHits = counts.cache('page');
  const recordHits = counts.cache('record');
  const readChange = watchChanges(db, table);
  const fullPages = buildPages();
  const lastPages = buildPages();
  const records = buildSlots<JsonText<Fields>>(MAX_SIZE, ({ text }) => text.length);
  let snapshot = 0;
  /** Infinity while nothing was written since full pages and records were last forgotten. */
  let trustedUntil = Number.POSITIVE_INFINITY;

  function enter(): void {
    const current = snapshots.enter();
    if (current !== snapshot) forgetWhatChanged();
    snapshot = current;
  }

  function forgetWhatChanged(): void {
    const change = readChange();
    const now = performance.now();
    if (change !== 'none') {
      lastPages.clear();
      trustedUntil = Math.min(trustedUntil, now + MAX_TRUST);
    }
    if (change === 'any' || now > trustedUntil) {
      fullPages.clear();
      records.clear();
      trustedUntil = Number.POSITIVE_INFINITY;
    }
  }

  return {
    readPage: (query) => {
      enter();
      const key = toKey(table, query);
      const known = fullPages.get(key) ?? lastPages.get(key);
      if (known) {
        pageHits.hits++;
        return known;
      }
      pageHits.misses++;
      const page = readPage(query);
      if (page) (page.next === undefined ? lastPages : fullPages).set(key, page);
      return page;
    },
    readRecord: (id) => {
      enter();
      const known = records.get(id);
      if (known) {
        recordHits.hits++;
        return known;
      }
      recordHits.misses++;
      const record = readRecord(id);
      // After a write it would be forgotten within a second. Where records are written all the time, that saves nothing.
      if (record && trustedUntil === Number.POSITIVE_INFINITY) records.set(id, record);
      return record;
    },
  };
}

/**
 * All that a page is read by, every filter of the table. A value has its length before it, and the cursor comes last, because
 * both may be any text. V8 finds texts of up to 12 characters faster, so what is not asked for adds nothing.
 */
function toKey({ filters }: Table, query: PageQuery): string {
  const { limit, after } = query;
  let key = String(limit);
  for (let index = 0; index < filters.length; index++) {
    const value = query[(filters[index] as Table['filters'][0]).name];
    if (value === undefined) continue;
    const text = String(value);
    key += `,${index}:${text.length}:${text}`;
  }
  return after === undefined ? key : `${key};${after}`;
}

function buildPages() {
  return new LRUCache<string, Page>({
    maxSize: MAX_SIZE,
    sizeCalculation: ({ body }) => body.text.length + PAGE_SIZE,
  });
}
