/**
 * Caches the JSON texts of pages and records until a program may have changed a record. A new record is added at the
 * end, so it only changes the last page of a list; the full pages before it stay valid.
 */
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { JsonText } from '../../json/json-text.ts';
import type { Fields, Page, PageQuery } from '../collection.ts';
import type { Hits, StoreCounts } from '../store.ts';
import type { Table } from '../tables/table.ts';
import { triggersOf } from './migrate.ts';
import type { Reads } from './reads.ts';
import { buildSetAssociativeCache, type SetAssociativeCache } from './set-associative-cache.ts';
import type { Snapshots } from './snapshots.ts';

/**
 * The size of each of the three caches for all collections together, in characters. A page counts as PAGE_SIZE
 * characters more than its text.
 */
const MAX_SIZE = 8_000_000;
const PAGE_SIZE = 200;
/**
 * How long full pages and records remain in the cache after any program has written to the database, in milliseconds.
 * The time is limited, because that program may have disabled the triggers that report changes.
 */
const MAX_TRUST = 1000;

/** Answers reads from the caches. For each new snapshot, it first checks whether the database has changed. */
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
  /**
   * The time when full pages and records must be dropped; infinite if nothing was written to the database since they
   * were last dropped.
   */
  #trustedUntil = Number.POSITIVE_INFINITY;

  /** `share` is the fraction of the caches' total size for this collection. */
  constructor(
    db: Database,
    table: Table,
    { snapshots, reads, counts, share }: { snapshots: Snapshots; reads: Reads; counts: StoreCounts; share: number },
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

  readonly readPage: Reads['readPage'] = (query) => {
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

  readonly readRecord: Reads['readRecord'] = (id) => {
    this.#enter();
    const known = this.#records.get(id);
    if (known) {
      this.#recordHits.hits++;
      return known;
    }
    this.#recordHits.misses++;
    const record = this.#reads.readRecord(id);
    // Soon after a write, records are not cached, because the cache will be emptied within a second.
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
 * Returns the key of a page in the cache. The length of each value precedes the value, and the cursor is at the end,
 * because values and cursors may contain any characters. Unused filters are omitted to keep the key short: V8 looks up
 * texts of up to 12 characters faster.
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

/**
 * Builds the cache of records. If ids are 64-bit integers, this is a set-associative cache, and otherwise an LRU cache.
 */
function buildRecords({ id }: Table, share: number): SetAssociativeCache<JsonText<Fields>> {
  const maxSize = Math.floor(MAX_SIZE * share);
  const built =
    id.type === 'int64'
      ? buildSetAssociativeCache(maxSize, sizeOf)
      : new LRUCache<string, JsonText<Fields>>({ maxSize, sizeCalculation: sizeOf });
  return built as SetAssociativeCache<JsonText<Fields>>;
}

function buildPages(share: number) {
  return new LRUCache<string, Page>({
    maxSize: Math.floor(MAX_SIZE * share),
    sizeCalculation: ({ body }) => body.text.length + PAGE_SIZE,
  });
}

/**
 * Makes a function that detects what may have changed in the database since the previous call. The function returns
 * `none` if nothing was written, `added` if records can only have been added at the end, and `any` if anything may have
 * changed. SQLite reports writes of other connections (`data_version`), writes of this connection (`total_changes`),
 * and changes of the schema (`schema_version`), such as a restored backup. Edits of records are counted by the engine's
 * triggers, as long as these triggers exist.
 */
function watchChanges(db: Database, table: Table): () => 'none' | 'added' | 'any' {
  const { name } = table;
  const readOthers = db.prepare<[], bigint>('PRAGMA data_version').pluck();
  const readOwnWrites = db.prepare<[], bigint>('SELECT total_changes()').pluck();
  const readSchema = db.prepare<[], bigint>('PRAGMA schema_version').pluck();
  const readEdits = db
    .prepare<[], bigint>(`
      SELECT count FROM record_edits WHERE name = '${name}' AND (
        SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '${name}' AND name IN (${triggersOf(table)})) = 3`)
    .pluck();
  let others: bigint | undefined;
  let own: bigint | undefined;
  let schema: bigint | undefined;
  let edits: bigint | undefined;

  return () => {
    const [othersNow, ownNow] = [readOthers.get(), readOwnWrites.get()];
    if (othersNow === others && ownNow === own) return 'none';
    const before = { schema, edits };
    [schema, edits] = [readSchema.get(), readEdits.get()];
    // If one of the reads above fails, these variables keep their old values, so that the next call detects the change
    // again.
    [others, own] = [othersNow, ownNow];
    return edits !== undefined && edits === before.edits && schema === before.schema ? 'added' : 'any';
  };
}
