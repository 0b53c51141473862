/** The transactions, which change several records or none. */

import { readingOf, refused, transactionOf } from '../../src/contract-first/store/changes/transactions.ts';
import { isRefused, type SqlSteps } from '../../src/contract-first/store/collection.ts';
import type { domain } from './domain.ts';

const transaction = transactionOf<typeof domain>();
const reading = readingOf<typeof domain>();

/** Orders are in no contract that the compiler knows. */
type NewOrder = { petId?: bigint; price: bigint; note?: string };
const toNew = (order: NewOrder) => order as never;

/** Sells an animal that is available. */
export const place = transaction(function* ({ pets, orders }, { petId, price }: { petId: bigint; price: bigint }) {
  const pet = yield* pets.update(petId, { status: 'sold' }, { if: { status: 'available' } });
  if (pet === undefined) return refused('pet_not_found');
  if (isRefused(pet)) return refused('pet_not_available');
  return yield* orders.create(toNew({ petId, price }));
});

/** Whether it is sold is looked at too late. */
export const placeCarelessly = transaction(function* ({ pets, orders }, { petId }: { petId: bigint }) {
  const order = yield* orders.create(toNew({ petId, price: 1n }));
  const pet = yield* pets.get(petId);
  if (pet?.status === 'sold') return refused('pet_not_available');
  yield* pets.update(petId, { status: 'sold' });
  return order;
});

/** Takes the first note that nobody has. */
export const takeNote = transaction(function* ({ orders }, notes: string[]) {
  for (const note of notes) {
    const order = yield* orders.create(toNew({ price: 1n, note }));
    if (!isRefused(order)) return order;
  }
  return refused('note_taken');
});

/** Adds all of one list; where one is taken, all of the other. */
export const takeNotes = transaction(function* ({ orders }, lists: string[][]) {
  for (const notes of lists) {
    const made = yield* orders.createAll(notes.map((note) => toNew({ price: 1n, note })));
    if (!isRefused(made)) return notes;
  }
  return refused('note_taken');
});

/** Adds a pet, and answers with plain data of any kind, or nothing. */
export const add = transaction(function* ({ pets, now }, { name, output }: { name: string; output?: unknown }) {
  yield* pets.create({ name, categoryId: 1n });
  return output === 'now' ? now : output;
});

/** The first step is done, and then something fails. */
export const fail = transaction(function* ({ pets }, how: 'throws' | 'caught' | 'forgotten' | 'unfit' | 'unlike') {
  const pet = yield* pets.create({ name: 'Half', categoryId: 1n });
  if (how === 'throws') throw new Error('half done');
  if (how === 'forgotten') pets.delete(pet.id);
  const create = (change: object): SqlSteps<unknown> => pets.create({ name: 'Other', categoryId: 1n, ...change });
  if (how === 'unlike') yield* create({ categoryId: null });
  if (how === 'unfit') yield* create({ name: 'Unfit' });
  try {
    if (how === 'caught') yield* create({ categoryId: 'dear' });
  } catch {}
  return 'done';
});

interface Total {
  status: string;
  count: bigint;
  sum: bigint;
}

/** Reads the sum of the sales and a page of them, in one snapshot. */
export const report = reading(function* (
  { sql, orders, pets },
  { from, petId = 0n }: { from: bigint; petId?: bigint },
) {
  const totals = yield* sql<Total>`
    SELECT status, count(*) AS count, sum(price) AS sum FROM orders WHERE price >= ${from} GROUP BY status ORDER BY status`;
  const page = yield* orders.list({ limit: 9, order: 'dearest', price: { from } } as never);
  const all = yield* sql<{ count: bigint }>`SELECT count(*) AS count FROM orders WHERE price >= ${from}`;
  return { totals, page, count: all[0]?.count, pet: yield* pets.get(petId) };
});

/** A statement of its own. */
export const ask = reading(function* ({ sql }, texts: string[]) {
  return yield* sql(
    [...texts] as unknown as TemplateStringsArray,
    ...(texts.length > 1 ? [true, "O'Neill", null] : []),
  );
});

/** The prices of some orders, by a statement with parts in parts, of which one is used twice. */
export const some = reading(function* ({ sql }, { from, status, forgets = false }: Some) {
  const isDear = sql`price >= ${from}`;
  const isFound = status === undefined ? isDear : sql`status = ${status} AND ${isDear}`;
  if (forgets) sql`SELECT price FROM orders WHERE ${isFound}`;
  return yield* sql<{
    price: bigint;
  }>`SELECT price FROM orders WHERE ${isFound} AND (${isDear} OR 1 = ${0}) ORDER BY price`;
});
interface Some {
  from: bigint;
  status?: string;
  forgets?: boolean;
}

/** Tries to write by a part of a statement. */
export const writePart = reading(function* ({ sql }, price: bigint) {
  const part = sql`DELETE FROM orders WHERE price = ${price} RETURNING price`;
  return yield* sql`WITH gone AS (${part}) SELECT price FROM gone`;
});

/** The sum of all orders with one more, which only this transaction has. */
export const addToSum = transaction(function* ({ sql, orders }, price: bigint) {
  yield* orders.create(toNew({ price }));
  const [row] = yield* sql<{ sum: bigint }>`SELECT sum(price) AS sum FROM orders`;
  const page = yield* orders.list({ limit: 1, order: 'dearest' } as never);
  return { sum: row?.sum, dearest: page?.body.read() };
});

/** Moves an amount from one account to another, and notes both in orders: nine statements. Pets are accounts here. */
export const move = transaction(function* (
  { pets, orders },
  { from, to, amount }: { from: bigint; to: bigint; amount: bigint },
) {
  const account = yield* pets.get(from);
  if (!account || !(yield* pets.get(to))) return refused('pet_not_found');
  if (account.categoryId < amount) return refused('too_little');
  yield* pets.update(from, { categoryId: { add: -amount } });
  yield* pets.update(to, { categoryId: { add: amount } });
  for (const price of [-amount, amount]) yield* orders.create(toNew({ price }));
  yield* pets.get(from);
  yield* pets.get(to);
  return (yield* orders.list({ limit: 1, order: 'newest' } as never))?.body.read().length;
});

/** Ends, or does not. */
export const loop = transaction(function* ({ pets }, how: 'ends' | 'spins' | 'asks') {
  yield* pets.create({ name: 'Half', categoryId: 1n });
  try {
    while (how === 'spins');
    while (how === 'asks') yield* pets.get(1n);
  } catch {
    return 'caught';
  }
  return 'done';
});
