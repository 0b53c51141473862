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

/** The marked lines must be compile errors; if one compiles, `npm run types` fails. */
export async function wrong({ records }: OwnStore): Promise<void> {
  const pet = { name: 'Rex', categoryId: 7n };
  // @ts-expect-error: the store sets the id
  await records.create({ ...pet, id: 1n });
  // @ts-expect-error: `put` needs an id that clients choose
  await records.put(1n, pet);
  // @ts-expect-error: an id is a 64-bit integer
  await records.get('1');
  // @ts-expect-error: the condition may fail, so the result need not be a pet
  (await records.update(1n, { name: 'Max' }, { if: { name: 'Rex' } }))?.name.trim();
  // @ts-expect-error: a name is not a number
  await records.update(1n, { name: { add: 1n } });
  // @ts-expect-error: a pet has no such field
  await records.update(1n, { colour: 'red' });
  const coloured: typeof pet & { colour?: string } = pet;
  // @ts-expect-error: no column stores this field, so it would be lost
  await records.create(coloured);
  // @ts-expect-error: `createAll` would lose the field, too
  await records.createAll([coloured]);
  // @ts-expect-error: `replace` would lose the field, too
  await records.replace(1n, coloured);
  // @ts-expect-error: `update` would lose the field, too
  await records.update(1n, coloured);
  const open: typeof pet & { [name: string]: unknown } = pet;
  // @ts-expect-error: the object may have fields that no column stores
  await records.create(open);
  // @ts-expect-error: the store sets the id, so nothing can be added to it
  await records.update(1n, { id: { add: 1n } });
  // @ts-expect-error: the store sets the id, so it cannot be removed
  await records.update(1n, { id: null });
  // @ts-expect-error: a required field cannot be removed
  await records.update(1n, { name: null });
  // @ts-expect-error: the sum may be refused, so the result need not be a pet
  (await records.update(1n, { categoryId: { add: 1n } }))?.name.trim();
  // @ts-expect-error: the cursor may belong to another list, so there need not be a page
  (await records.list({ limit: 1, after: '' })).body.read();
  const either = { limit: 1 } as { limit: number; after: string } | { limit: number };
  // @ts-expect-error: there may be a cursor, so there need not be a page
  (await records.list(either)).body.read();
  const filtered = { limit: 1 } as { limit: number; colour: string } | { limit: number };
  // @ts-expect-error: there may be a filter, which the list does not have
  await records.list(filtered);
}

/** All of this must compile. */
export async function right({ records }: OwnStore): Promise<void> {
  const changes: ChangesOf<Omit<NewOf<typeof pets>, 'categoryId'>> = {};
  // The change can add to no number, so the result cannot be a refusal.
  (await records.update(1n, changes))?.name.trim();
  const { id, name }: { id: bigint; name: string } = await records.create({ name: 'Rex', categoryId: 7n });
  const all: { id: bigint }[] = await records.createAll([{ name, categoryId: id }]);
  const sum = await records.update(all[0]?.id ?? id, { categoryId: { add: 1n } });
  if (isRefused(sum)) return;
  const pet = await records.update(id, { status: null });
  const category: bigint | undefined = pet?.categoryId ?? (await records.get(id))?.read().categoryId;
  await records.replace(id, { name, categoryId: category ?? 0n }, { if: { status: undefined } });
  // A list without a cursor always has a page.
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
  // @ts-expect-error: a required field of an object cannot be removed
  await parcels.update('a', { to: { zip: null } });
  // @ts-expect-error: the merged object may not fit, so the result need not be a parcel
  (await parcels.update('a', { to: { note: 'Soon' } }))?.name.trim();
  // @ts-expect-error: a parcel has no such field
  await parcels.put('a', { name: 'a', colour: 'red' });
}

export async function rightOfObjects(parcels: Parcels, patch: { to?: { note?: string | null } | null }): Promise<void> {
  const outcome = await parcels.update('a', patch);
  if (isRefused(outcome)) outcome.refused satisfies 'unfit';
  const sum = await parcels.update('a', { weight: { add: 1n } });
  if (isRefused(sum)) sum.refused satisfies 'out_of_range';
  await parcels.update('a', { to: { labels: { old: null, new: 'x' }, lines: ['b'] } });
  // A change that adds to no number and merges no object cannot be refused.
  (await parcels.update('a', { name: 'b' } as { name?: string }))?.name.trim();
}

type Why<All extends AnyDomain, Name extends keyof All & string> = Referenced<All, Name>;
/** The deletion of a club deletes its members, but members with visits cannot be deleted, so both can be refused. */
export const whys: [Why<typeof domain, 'clubs'>, Why<typeof domain, 'members'>] = [
  refused('referenced'),
  refused('referenced'),
];
/** Without visits, the deletion of a club cannot be refused. That of a visit never can. */
export const never = (why: Why<Omit<typeof domain, 'visits'>, 'clubs'> | Why<typeof domain, 'visits'>): never => why;

const { name, ...columns } = pets.columns;
const shared = { ...pets, columns: { ...columns, name: { ...name, set: 'tenant' } } } as const;
type Shared = CollectionOf<typeof shared>;

export async function wrongOfTenants(records: Shared): Promise<void> {
  // @ts-expect-error: the collection needs a tenant
  await records.get(1n);
  // @ts-expect-error: a claim that may be absent cannot be the tenant
  records.of(undefined as string | undefined);
  // @ts-expect-error: the store sets the column of the tenant
  await records.of('Rex').create({ name: 'Max', categoryId: 7n });
  // @ts-expect-error: the column of the tenant cannot be changed
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

// @ts-expect-error: an internal column cannot have the name of a field
export const doubled = { ...pets, internal } as const satisfies Description<'Pet', keyof typeof internal>;
export const filtered = {
  ...known,
  // @ts-expect-error: `colour` is neither a field nor an internal column
  lists: { equal: ['owner', 'colour'] },
} as const satisfies Description<'Pet', keyof typeof others>;

export async function wrongOfInternal(records: Known): Promise<void> {
  // @ts-expect-error: the internal column `owner` is missing
  await records.create({ name: 'Rex', categoryId: 7n });
  // @ts-expect-error: the internal column `owner` is a text
  await records.update(1n, { owner: 7n });
  // @ts-expect-error: `get` returns no internal columns, because clients get its records
  (await records.get(1n))?.read().owner.trim();
  // @ts-expect-error: the internal column `seenAt` may be absent
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
  // @ts-expect-error: the id is missing
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
  // @ts-expect-error: a copy is sent with the internal columns
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
  // @ts-expect-error: `petId` is missing
  await records.create({});
  // @ts-expect-error: the schema has no such status
  await records.create({ petId: 1n, was: 'lost' });
  // @ts-expect-error: the store sets this column
  await records.create({ petId: 1n, revision: 1n });
}

export async function rightOfNoSchema(records: CollectionOf<typeof visits>): Promise<string | undefined> {
  const visit = await records.create({ petId: 1n });
  if (isRefused(visit)) return visit.refused satisfies 'no_such_pets';
  (await records.update(visit.number, { note: 'b' }))?.number.trim();
  return (await records.get(visit.number))?.read().was satisfies 'available' | 'pending' | 'sold' | undefined;
}

const noted = { ...visits, unique: [{ fields: ['note', 'was'], code: 'pet_not_found' }] } as const;

/** The type of a refused change has only the conflicts that the changed fields can cause. */
export async function conflictsOfChanges(
  records: CollectionOf<typeof noted>,
  changes: { was?: 'sold' } | { petId?: bigint },
): Promise<string | undefined> {
  const moved = await records.update('a', { petId: 1n });
  if (isRefused(moved)) return moved.refused satisfies 'no_such_pets';
  const renamed = await records.update('a', { note: null });
  if (isRefused(renamed)) return renamed.refused satisfies 'pet_not_found';
  const changed = await records.update('a', changes);
  // @ts-expect-error: the change may be of `petId`, which causes another conflict
  if (isRefused(changed)) return changed.refused satisfies 'pet_not_found';
  return (await records.update('a', {}))?.number;
}

/**
 * A collection whose schema is the success response of an operation, which need not have a name in the contract, and
 * one whose schema is that of a field in it.
 */
const read = { ...pets, schema: 'getPet()' } as const satisfies Description<'getPet()'>;
// @ts-expect-error: a pet has no such field
export const lost: RowOf<typeof pets & { schema: 'getPet().colour' }> = {};

export const rightOfReplies = async (records: CollectionOf<typeof read>): Promise<string> =>
  (await records.create({ name: 'Rex', categoryId: 7n })).name;

const loose = { ...pets, unfit: 400 } as const;

/** With `unfit: 400`, request bodies may have wider types than records, but not other types. */
export async function widerValues(
  records: CollectionOf<typeof loose>,
  body: { name: string | null; categoryId: bigint; status?: string },
): Promise<void> {
  await records.create(body);
  await records.update(1n, body);
  // @ts-expect-error: a name is not a number
  await records.create({ ...body, name: 7 });
  const other: typeof body & { titles?: string } = body;
  // @ts-expect-error: no column stores this field, so it would be lost
  await records.update(1n, other);
  // @ts-expect-error: the store sets this column
  await records.create({ ...body, id: null });
}

t.test('the compiler accepts right calls of a collection, and rejects calls with wrong fields or values', (t) => {
  t.type(wrong, 'function');
  t.type(right, 'function');
  t.end();
});
