import t from 'tap';
import { handle } from '../../src/contract-first/engine/index.ts';
import { refused } from '../../src/contract-first/store/changes/transactions.ts';
import { type ChangesOf, type Changing, isRefused, type Page } from '../../src/contract-first/store/collection.ts';
import type {
  AnyDomain,
  CollectionOf,
  Description,
  NewOf,
  Referenced,
  RowOf,
} from '../../src/contract-first/store/tables/description.ts';
import { pets } from '../../src/pets/domain.ts';
import type { OwnStore } from '../database.ts';
import type { domain } from '../members/domain.ts';

/** Marked lines must not compile; `npm run types` fails if one does. */
export async function wrong({ records }: OwnStore): Promise<void> {
  const pet = { name: 'Rex', categoryId: 7n };
  // @ts-expect-error: every id is given by the store
  await records.create({ ...pet, id: 1n });
  // @ts-expect-error: an id that the store gives cannot be put
  await records.put(1n, pet);
  // @ts-expect-error: ids are 64-bit integers
  await records.get('1');
  // @ts-expect-error: a condition may fail, so it is not a pet yet
  (await records.update(1n, { name: 'Max' }, { if: { name: 'Rex' } }))?.name.trim();
  // @ts-expect-error: a name is no number
  await records.update(1n, { name: { add: 1n } });
  // @ts-expect-error: no field of a pet
  await records.update(1n, { colour: 'red' });
  const coloured: typeof pet & { colour?: string } = pet;
  // @ts-expect-error: a field that no column keeps would be gone
  await records.create(coloured);
  // @ts-expect-error: of none of several
  await records.createAll([coloured]);
  // @ts-expect-error: nor where a record is replaced
  await records.replace(1n, coloured);
  // @ts-expect-error: or changed
  await records.update(1n, coloured);
  const open: typeof pet & { [name: string]: unknown } = pet;
  // @ts-expect-error: it may have any field
  await records.create(open);
  // @ts-expect-error: the store sets it, and nothing is added to it
  await records.update(1n, { id: { add: 1n } });
  // @ts-expect-error: nor is it taken away
  await records.update(1n, { id: null });
  // @ts-expect-error: a name cannot be taken away
  await records.update(1n, { name: null });
  // @ts-expect-error: a sum may be refused, so it is not a pet yet
  (await records.update(1n, { categoryId: { add: 1n } }))?.name.trim();
  // @ts-expect-error: the cursor may be of another list
  (await records.list({ limit: 1, after: '' })).body.read();
  const either = { limit: 1 } as { limit: number; after: string } | { limit: number };
  // @ts-expect-error: nor is it known whether there is a cursor
  (await records.list(either)).body.read();
  const filtered = { limit: 1 } as { limit: number; colour: string } | { limit: number };
  // @ts-expect-error: nor whether there is a filter, which the list does not have
  await records.list(filtered);
}

/** And these must. */
export async function right({ records }: OwnStore): Promise<void> {
  const changes: ChangesOf<Omit<NewOf<typeof pets>, 'categoryId'>> = {};
  // No number can be added: the change is not refused.
  (await records.update(1n, changes))?.name.trim();
  const { id, name }: { id: bigint; name: string } = await records.create({ name: 'Rex', categoryId: 7n });
  const all: { id: bigint }[] = await records.createAll([{ name, categoryId: id }]);
  const sum = await records.update(all[0]?.id ?? id, { categoryId: { add: 1n } });
  if (isRefused(sum)) return;
  const pet = await records.update(id, { status: null });
  const category: bigint | undefined = pet?.categoryId ?? (await records.get(id))?.read().categoryId;
  await records.replace(id, { name, categoryId: category ?? 0n }, { if: { status: undefined } });
  // Without a cursor there always is a page.
  const page: Page<{ id: bigint }> = await records.list({ limit: 1, status: 'sold' });
  const next = await records.list({ limit: 1, after: page.next });
  next?.body.read();
}

interface Parcel {
  name: string;
  weight?: bigint;
  to?: { zip: string; note?: string; labels: Record<string, string>; lines: string[] };
}
type Parcels = Changing<Parcel, Parcel, string, never, never, 'promise'>;

export async function wrongOfObjects(parcels: Parcels): Promise<void> {
  // @ts-expect-error: a zip cannot be taken away
  await parcels.update('a', { to: { zip: null } });
  // @ts-expect-error: a merged object may no longer fit, so it is not a parcel yet
  (await parcels.update('a', { to: { note: 'Soon' } }))?.name.trim();
  // @ts-expect-error: no field of a parcel
  await parcels.put('a', { name: 'a', colour: 'red' });
}

export async function rightOfObjects(parcels: Parcels, patch: { to?: { note?: string | null } | null }): Promise<void> {
  const outcome = await parcels.update('a', patch);
  if (isRefused(outcome)) outcome.refused satisfies 'unfit';
  const sum = await parcels.update('a', { weight: { add: 1n } });
  if (isRefused(sum)) sum.refused satisfies 'out_of_range';
  await parcels.update('a', { to: { labels: { old: null, new: 'x' }, lines: ['b'] } });
  // Where nothing is added or merged, nothing is refused.
  (await parcels.update('a', { name: 'b' } as { name?: string }))?.name.trim();
}

type Why<All extends AnyDomain, Name extends keyof All & string> = Referenced<All, Name>;
/** Clubs have members, who go with them, but for those who have visits. */
export const whys: [Why<typeof domain, 'clubs'>, Why<typeof domain, 'members'>] = [
  refused('referenced'),
  refused('referenced'),
];
/** A club without such members is never refused, nor is a visit. */
export const never = (why: Why<Omit<typeof domain, 'visits'>, 'clubs'> | Why<typeof domain, 'visits'>): never => why;

const { name, ...columns } = pets.columns;
const shared = { ...pets, columns: { ...columns, name: { ...name, set: 'tenant' } } } as const;
type Shared = CollectionOf<typeof shared>;

export async function wrongOfTenants(records: Shared): Promise<void> {
  // @ts-expect-error: whose?
  await records.get(1n);
  // @ts-expect-error: a claim that may be absent is no tenant
  records.of(undefined as string | undefined);
  // @ts-expect-error: the tenant is set by the store
  await records.of('Rex').create({ name: 'Max', categoryId: 7n });
  // @ts-expect-error: and stays
  await records.of('Rex').update(1n, { name: 'Max' });
}

export const rightOfTenants = async (records: Shared): Promise<string> =>
  (await records.of('Rex').create({ categoryId: 7n })).name;

const internal = {
  owner: { type: 'text' },
  visits: { type: 'int64', first: 0n },
  seenAt: { type: 'time', isOptional: true },
  status: { type: 'json', schema: 'PetStatus' },
} as const;
const { status: _status, ...others } = internal;
const known = { ...pets, internal: others } as const satisfies Description<'Pet', keyof typeof others>;
type Known = CollectionOf<typeof known>;

// @ts-expect-error: an internal column is not named like a field
export const doubled = { ...pets, internal } as const satisfies Description<'Pet', keyof typeof internal>;
export const filtered = {
  ...known,
  // @ts-expect-error: no field, and no internal column
  lists: { equal: ['owner', 'colour'] },
} as const satisfies Description<'Pet', keyof typeof others>;

export async function wrongOfInternal(records: Known): Promise<void> {
  // @ts-expect-error: without its owner
  await records.create({ name: 'Rex', categoryId: 7n });
  // @ts-expect-error: an owner is a text
  await records.update(1n, { owner: 7n });
  // @ts-expect-error: clients do not see it
  (await records.get(1n))?.read().owner.trim();
  // @ts-expect-error: it may be absent
  (await records.read(1n))?.seenAt.trim();
}

const { id: _id, ...shown } = pets.columns;
const keyed = {
  ...pets,
  columns: { ...shown, id: { type: 'int64', set: 'revision' } },
  internal: { key: { type: 'text', is: 'id' } },
} as const satisfies Description<'Pet', 'key'>;

export async function wrongOfInternalId(records: CollectionOf<typeof keyed>): Promise<void> {
  const pet = { name: 'Rex', categoryId: 7n };
  await records.put('a', { ...pet, key: 'a' });
  // @ts-expect-error: the id is a text
  await records.get(1n);
  // @ts-expect-error: without its id
  await records.create(pet);
}

const NOT_SENT = "a copy's internal columns are its own";
export async function rightOfInternal(records: Known, page: Page<RowOf<typeof known>>): Promise<void> {
  const pet = await records.create({ name: 'Rex', categoryId: 7n, owner: 'Ada' });
  const visits: bigint = pet.visits + ((await records.read(1n))?.visits ?? 0n);
  await records.update(1n, { visits: { add: visits }, seenAt: null }, { if: { owner: pet.owner } });
  const { id: _id, ...fields } = pet;
  await records.replace(1n, fields);
  handle('createPet', async () => ({ status: 201, body: pet, headers: { Location: pet.owner } }));
  handle('listPets', async () => ({ status: 200, body: page.body }));
  // @ts-expect-error: a copy is sent as it is
  handle('createPet', async () => ({ status: 201, body: { ...pet }, headers: { Location: NOT_SENT } }));
}

const visits = {
  noun: 'visit',
  table: 'visits',
  columns: {
    number: { type: 'uuid', set: 'id' },
    petId: { type: 'int64', of: 'pets' },
    note: { type: 'text', isOptional: true },
    was: { type: 'text', schema: 'PetStatus', first: 'sold' },
    revision: { type: 'int64', set: 'revision' },
  },
  errors: {},
  migrations: pets.migrations,
} as const satisfies Description;

export async function wrongOfNoSchema(records: CollectionOf<typeof visits>): Promise<void> {
  // @ts-expect-error: of which pet?
  await records.create({});
  // @ts-expect-error: not one of the status
  await records.create({ petId: 1n, was: 'lost' });
  // @ts-expect-error: the store sets it
  await records.create({ petId: 1n, revision: 1n });
}

export async function rightOfNoSchema(records: CollectionOf<typeof visits>): Promise<string | undefined> {
  const visit = await records.create({ petId: 1n });
  if (isRefused(visit)) return visit.refused satisfies 'no_such_pets';
  (await records.update(visit.number, { note: 'b' }))?.number.trim();
  return (await records.get(visit.number))?.read().was satisfies 'available' | 'pending' | 'sold' | undefined;
}

const noted = { ...visits, unique: [{ fields: ['note', 'was'], code: 'pet_not_found' }] } as const;

/** A change is refused with the conflicts that its fields can cause. */
export async function conflictsOfChanges(
  records: CollectionOf<typeof noted>,
  changes: { was?: 'sold' } | { petId?: bigint },
): Promise<string | undefined> {
  const moved = await records.update('a', { petId: 1n });
  if (isRefused(moved)) return moved.refused satisfies 'no_such_pets';
  const renamed = await records.update('a', { note: null });
  if (isRefused(renamed)) return renamed.refused satisfies 'pet_not_found';
  const changed = await records.update('a', changes);
  // @ts-expect-error: another field may be changed than the first of the two
  if (isRefused(changed)) return changed.refused satisfies 'pet_not_found';
  return (await records.update('a', {}))?.number;
}

/**
 * A collection with the schema of an operation's success, which may have no name in the contract, and one with the schema of a field in it.
 */
const read = { ...pets, schema: 'getPet()' } as const satisfies Description<'getPet()'>;
// @ts-expect-error: no field of a pet
export const lost: RowOf<typeof pets & { schema: 'getPet().colour' }> = {};

export const rightOfReplies = async (records: CollectionOf<typeof read>): Promise<string> =>
  (await records.create({ name: 'Rex', categoryId: 7n })).name;

const loose = { ...pets, unfit: 400 } as const;

/** With `unfit: 400`, bodies may have wider types than records, but no others. */
export async function widerValues(
  records: CollectionOf<typeof loose>,
  body: { name: string | null; categoryId: bigint; status?: string },
): Promise<void> {
  await records.create(body);
  await records.update(1n, body);
  // @ts-expect-error: a name is no number
  await records.create({ ...body, name: 7 });
  const other: typeof body & { titles?: string } = body;
  // @ts-expect-error: a field that no column keeps would be gone
  await records.update(1n, other);
  // @ts-expect-error: the store sets it
  await records.create({ ...body, id: null });
}

t.test('the types of a collection accept exactly the values of its schema', (t) => {
  t.type(wrong, 'function');
  t.type(right, 'function');
  t.end();
});
