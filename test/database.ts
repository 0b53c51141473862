/** A store on SQLite by its URL, as the configuration opens it. */

import { domain } from '../src/generated/domain.ts';
import type { Page } from '../src/store/collection.ts';
import { toCursor } from '../src/store/cursors.ts';
import { parseDatabaseUrl, type SqliteDatabase } from '../src/store/database-url.ts';
import type { CollectionOf, SchemaOf } from '../src/store/description.ts';
import { loadParts } from '../src/store/migrations.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store, StoreLimits } from '../src/store/store.ts';

/** With what our domain keeps. */
export type OwnStore = Store<CollectionOf<typeof domain>>;

export const openUrl = (url: string, limits: Partial<StoreLimits> = {}): OwnStore =>
  openStore(parseDatabaseUrl(url) as SqliteDatabase, domain, {
    createTimeout: 60_000,
    maxCreates: 10_000,
    checkTimeout: 60_000,
    ...limits,
  });

export type Pet = SchemaOf<'Pet'>;
export type NewPet = SchemaOf<'NewPet'>;
export type PetStatus = SchemaOf<'PetStatus'>;

/** How many migrations the domain has, in either database. */
export const DOMAIN_VERSION =
  loadParts('sqlite', domain).find(({ name }) => name === domain.name)?.migrations.length ?? 0;

/** What lists are filtered by, as cursors and statements take it: the value of each filter, or undefined. */
export function valuesOf(query: Readonly<Record<string, unknown>>): unknown[] {
  return domain.filters.map((name) => query[name]);
}

/** A page after the record with an id; as a promise where the store gives one. */
export function listPets(
  { records }: Pick<OwnStore, 'records'>,
  { after, ...query }: { limit: number; status?: PetStatus | undefined; after?: bigint | undefined },
): Page<Pet> {
  const cursor = after === undefined ? undefined : toCursor(after, valuesOf(query));
  return records.list({ ...query, after: cursor }) as Page<Pet>;
}
