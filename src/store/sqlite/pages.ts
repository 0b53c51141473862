/** Pages of pets, which SQLite writes as JSON text. */
import type { Database } from 'better-sqlite3';
import { JsonText } from '../../json/json-text.ts';
import type { Page, Pet, PetStatus } from '../store.ts';
import { PET_JSON } from './pet-json.ts';

/** The page of at most `limit` pets, of one status or any, with ids higher than `after`. */
export type ReadPage = (limit: number, status: PetStatus | undefined, after: bigint) => Page;

type PageRow = [texts: string | null, count: bigint, last: bigint | null];

export function prepareReadPage(db: Database): ReadPage {
  const ofAny = prepareQueries(db, '');
  const ofStatus = prepareQueries(db, 'status = ? AND');
  return (limit, status, after) => {
    const { page, hasMore } = status === undefined ? ofAny : ofStatus;
    const filter = status === undefined ? [] : [status];
    const [texts, count, last] = page.get(...filter, after, limit) as PageRow;
    const isFull = last !== null && count === BigInt(limit);
    const next = isFull && hasMore.get(...filter, last) === 1n ? last : undefined;
    return { body: JsonText.of<Pet[]>(`[${texts ?? ''}]`), next };
  };
}

function prepareQueries(db: Database, filter: string) {
  return {
    // With a bare `LIMIT ?`, SQLite prepares the statement again at every bind; with an expression it does not.
    page: db
      .prepare<unknown[], PageRow>(`
        SELECT group_concat(pet, ','), count(*), max(id)
        FROM (SELECT id, ${PET_JSON} AS pet FROM pets WHERE ${filter} id > ? ORDER BY id LIMIT +?)`)
      .raw(),
    hasMore: db.prepare<unknown[], bigint>(`SELECT EXISTS (SELECT 1 FROM pets WHERE ${filter} id > ?)`).pluck(),
  };
}
