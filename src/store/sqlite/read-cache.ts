/**
 * Pages and records, kept as text until a record may have changed, whoever changed it. Records that are added at the end change last
 * pages only, not full ones, which have a next page.
 */
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { JsonText } from '../../json/json-text.ts';
import type { Fields, Page, PageQuery } from '../collection.ts';
import type { Hits, StoreCounts } from '../counts.ts';
import type { Table } from '../table.ts';
import { watchChanges } from './changes.ts';
import type { ReadPage } from './pages.ts';
import { buildSlots, type Slots } from './slots.ts';
import type { Snapshots } from './snapshots.ts';

/** The record with this id. */
type ReadRecord = (id: unknown) => JsonText<Fields> | undefined;

export interface Reads {
  readPage: ReadPage;
  readRecord: ReadRecord;
}

/** How much each of the three caches keeps, of all collections together, in characters; a page counts PAGE_SIZE more. */
const MAX_SIZE = 8_000_000;
const PAGE_SIZE = 200;
/** How long after a write full pages and records are still trusted, in milliseconds: the writer may have turned the triggers off. */
const MAX_TRUST = 1000;

/** Reads only what is not kept. Looks for changes once per snapshot. */
export class ReadCache implements Reads {
  readonly #table: Table;
  readonly #snapshots: Snapshots;
  readonly #reads: Reads;
  readonly #pageHits: Hits;
  readonly #recordHits: Hits;
  readonly #readChange: ReturnType<typeof watchChanges>;
  readonly #fullPages: ReturnType<typeof buildPages>;
  readonly #lastPages: ReturnType<typeof buildPages>;
  readonly #records: ReturnType<typeof buildRecords>;
  #snapshot = 0;
  /** Infinity while nothing was written since full pages and records were last forgotten. */
  #trustedUntil = Number.POSITIVE_INFINITY;

  /** `share` is its part of what all caches keep. */
  constructor(
    db: Database,
    table: Table,
    {
      snapshots,
      reads,
      counts,
      share = 1,
    }: { snapshots: Snapshots; reads: Reads; counts: StoreCounts; share?: number },
  ) {
    this.#fullPages = buildPages(share);
    this.#lastPages = buildPages(share);
    this.#records = buildRecords(table, share);
    this.#table = table;
    this.#snapshots = snapshots;
    this.#reads = reads;
    this.#pageHits = counts.cache('page');
    this.#recordHits = counts.cache('record');
    this.#readChange = watchChanges(db, table);
  }

  readonly readPage: ReadPage = (query) => {
    this.#enter();
    const key = toKey(this.#table, query);
    const known = this.#fullPages.get(key) ?? this.#lastPages.get(key);
    if (known) {
      this.#pageHits.hits++;
      return known;
    }
    this.#pageHits.misses++;
    const page = this.#reads.readPage(query);
    if (page) (page.next === undefined ? this.#lastPages : this.#fullPages).set(key, page);
    return page;
  };

  readonly readRecord: ReadRecord = (id) => {
    this.#enter();
    const known = this.#records.get(id);
    if (known) {
      this.#recordHits.hits++;
      return known;
    }
    this.#recordHits.misses++;
    const record = this.#reads.readRecord(id);
    // After a write it would be forgotten within a second. Where records are written all the time, that saves nothing.
    if (record && this.#trustedUntil === Number.POSITIVE_INFINITY) this.#records.set(id, record);
    return record;
  };

  #enter(): void {
    const current = this.#snapshots.enter();
    if (current !== this.#snapshot) this.#forgetWhatChanged();
    this.#snapshot = current;
  }

  #forgetWhatChanged(): void {
    const change = this.#readChange();
    const now = performance.now();
    if (change !== 'none') {
      this.#lastPages.clear();
      this.#trustedUntil = Math.min(this.#trustedUntil, now + MAX_TRUST);
    }
    if (change === 'any' || now > this.#trustedUntil) {
      this.#fullPages.clear();
      this.#records.clear();
      this.#trustedUntil = Number.POSITIVE_INFINITY;
    }
  }
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

const sizeOf = ({ text }: JsonText<Fields>) => text.length;

/** By ids that are 64-bit integers, or texts. */
function buildRecords({ id }: Table, share: number): Slots<JsonText<Fields>> {
  const maxSize = Math.floor(MAX_SIZE * share);
  if (id.type === 'int64') return buildSlots(maxSize, sizeOf) as Slots<JsonText<Fields>>;
  return new LRUCache<string, JsonText<Fields>>({ maxSize, sizeCalculation: sizeOf }) as Slots<JsonText<Fields>>;
}

function buildPages(share: number) {
  return new LRUCache<string, Page>({
    maxSize: Math.floor(MAX_SIZE * share),
    sizeCalculation: ({ body }) => body.text.length + PAGE_SIZE,
  });
}
