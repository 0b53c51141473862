/** Opens SQLite and in-memory stores of the pet store by URL, as the configuration does. */
import type { Awaitable, Page } from '../src/contract-first/store/collection.ts';
import { toCursor } from '../src/contract-first/store/cursors.ts';
import { type Database, parseDatabaseUrl } from '../src/contract-first/store/database-url.ts';
import { openStore } from '../src/contract-first/store/open-store.ts';
import type { Store, StoreLimits } from '../src/contract-first/store/store.ts';
import type { CollectionOf, CollectionsOf, SchemaOf } from '../src/contract-first/store/tables/description.ts';
import type { RecordCodecs } from '../src/contract-first/store/tables/record-codec.ts';
import { domain } from '../src/generated/domain.ts';

type Records = CollectionOf<(typeof domain)['pets']>;

/** A store of the pet store's domain, with its pets as `records`. */
export type OwnStore = Store<CollectionsOf<typeof domain>> & { records: Records };

/** Returns the store with one of its collections as `records`. */
export const withRecords = (store: Awaitable<Store>, name = 'pets') =>
  Object.assign(store as Store, {
    records: Object.entries((store as Store).collections).find(([one]) => one === name)?.[1],
  });

/** Timeouts longer than any call takes, even on a busy machine. */
export const LIMITS = { createTimeout: 60_000, maxCreates: 10_000, checkTimeout: 60_000 };

export function openUrl(
  url: string,
  limits: Partial<StoreLimits> = {},
  codecs?: RecordCodecs<typeof domain>,
): OwnStore {
  return withRecords(
    openStore(parseDatabaseUrl(url, 'petstore') as Database, domain, { ...LIMITS, ...limits }, { codecs }),
  ) as OwnStore;
}

export type Pet = SchemaOf<'Pet'>;
export type NewPet = SchemaOf<'NewPet'>;
export type PetStatus = SchemaOf<'PetStatus'>;

/** Returns the filters of a query in the order that cursors and statements use; undefined for an unused filter. */
export function valuesOf(query: Readonly<Record<string, unknown>>): unknown[] {
  return domain.pets.lists.equal.map((name) => query[name]);
}

/** Lists the pets after the pet with the id `after`. Returns a promise if the store does. */
export function listPets(
  { records }: Pick<OwnStore, 'records'>,
  { after, ...query }: { limit: number; status?: PetStatus | undefined; after?: bigint | undefined },
): Page<Pet> {
  const cursor = after === undefined ? undefined : toCursor(after, valuesOf(query));
  return records.list({ ...query, after: cursor }) as Page<Pet>;
}
