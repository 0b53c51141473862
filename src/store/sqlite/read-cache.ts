/**
 * Pages and pets, kept as text until a pet may have changed, whoever changed it. Pets that are added at the end change last pages
 * only, not full ones, which have a next page.
 */
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { JsonText } from '../../json/json-text.ts';
import type { Page, Pet } from '../store.ts';
import { watchChanges } from './changes.ts';
import type { ReadPage } from './pages.ts';
import { buildSlots } from './slots.ts';
import type { Snapshots } from './snapshots.ts';

/** The pet with this id. */
type ReadPet = (id: bigint) => JsonText<Pet> | undefined;

export interface Reads {
  readPage: ReadPage;
  readPet: ReadPet;
}

/** How much each of the three caches keeps, in characters; a page counts PAGE_SIZE more. */
const MAX_SIZE = 8_000_000;
const PAGE_SIZE = 200;
/** How long after a write full pages and pets are still trusted, in milliseconds: the writer may have turned the triggers off. */
const MAX_TRUST = 1000;

/** Reads only what is not kept. Looks for changes once per snapshot. */
export function cacheReads(db: Database, snapshots: Snapshots, { readPage, readPet }: Reads): Reads {
  const readChange = watchChanges(db);
  const fullPages = buildPages();
  const lastPages = buildPages();
  const pets = buildSlots<JsonText<Pet>>(MAX_SIZE, ({ text }) => text.length);
  let snapshot = 0;
  /** Infinity while nothing was written since full pages and pets were last forgotten. */
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
      pets.clear();
      trustedUntil = Number.POSITIVE_INFINITY;
    }
  }

  return {
    readPage: (limit, status, after) => {
      enter();
      // The status comes last, because it may be any text. V8 finds texts of up to 12 characters faster, so none adds nothing.
      const key = status === undefined ? `${limit},${after}` : `${limit},${after},${status}`;
      const known = fullPages.get(key) ?? lastPages.get(key);
      if (known) return known;
      const page = readPage(limit, status, after);
      (page.next === undefined ? lastPages : fullPages).set(key, page);
      return page;
    },
    readPet: (id) => {
      enter();
      const known = pets.get(id);
      if (known) return known;
      const pet = readPet(id);
      // After a write it would be forgotten within a second. Where pets are written all the time, that saves nothing.
      if (pet && trustedUntil === Number.POSITIVE_INFINITY) pets.set(id, pet);
      return pet;
    },
  };
}

function buildPages() {
  return new LRUCache<string, Page>({
    maxSize: MAX_SIZE,
    sizeCalculation: ({ body }) => body.text.length + PAGE_SIZE,
  });
}
