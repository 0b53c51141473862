/** Transactions that change several records, or none if they are refused. */

import { readingOf, refused, transactionOf } from '../../src/contract-first/store/changes/transactions.ts';
import { isRefused, type SqlSteps } from '../../src/contract-first/store/collection.ts';
import type { domain } from './domain.ts';

const transaction = transactionOf<typeof domain>();
const reading = readingOf<typeof domain>();

/** The compiler knows no contract with orders. */
type NewOrder = { petId?: bigint; price: bigint; note?: string };
const toNew = (order: NewOrder) => order as never;

/** Sells an available animal. */
export const place = transaction(function* ({ pets, orders }, { petId, price }: { petId: bigint; price: bigint }) {
  const pet = yield* pets.update(petId, { status: 'sold' }, { if: { status: 'available' } });
  if (pet === undefined) return refused('pet_not_found');
  if (isRefused(pet)) return refused('pet_not_available');
  return yield* orders.create(toNew({ petId, price }));
});

/** Makes the mistake of checking too late whether the animal is sold. */
export const placeCarelessly = transaction(function* ({ pets, orders }, { petId }: { petId: bigint }) {
  const order = yield* orders.create(toNew({ petId, price: 1n }));
  const pet = yield* pets.get(petId);
  if (pet?.status === 'sold') return refused('pet_not_available');
  yield* pets.update(petId, { status: 'sold' });
  return order;
});

/** Creates an order with the first note that no other order has. */
export const takeNote = transaction(function* ({ orders }, notes: string[]) {
  for (const note of notes) {
    const order = yield* orders.create(toNew({ price: 1n, note }));
    if (!isRefused(order)) return order;
  }
  return refused('note_taken');
});

/**
 * Creates an order for each note of the first list. If one is taken, none of that list is created, and the next list is
 * tried.
 */
export const takeNotes = transaction(function* ({ orders }, lists: string[][]) {
  for (const notes of lists) {
    const made = yield* orders.createAll(notes.map((note) => toNew({ price: 1n, note })));
    if (!isRefused(made)) return notes;
  }
  return refused('note_taken');
});

/** Adds a pet, and returns plain data of any kind, or nothing. */
export const add = transaction(function* ({ pets, now }, { name, output }: { name: string; output?: unknown }) {
  yield* pets.create({ name, categoryId: 1n });
  return output === 'now' ? now : output;
});

/** The first step succeeds, and then something fails. */
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

/** Reads the totals of the orders and a page of them, in one snapshot. */
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

/** Runs a statement of its own. */
export const ask = reading(function* ({ sql }, texts: string[]) {
  return yield* sql(
    [...texts] as unknown as TemplateStringsArray,
    ...(texts.length > 1 ? [true, "O'Neill", null] : []),
  );
});

/** The prices of some orders, from a statement that is composed of parts within parts. One part is used twice. */
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

/** Tries to write with a part of a reading statement. */
export const writePart = reading(function* ({ sql }, price: bigint) {
  const part = sql`DELETE FROM orders WHERE price = ${price} RETURNING price`;
  return yield* sql`WITH gone AS (${part}) SELECT price FROM gone`;
});

/** The sum of all orders, which includes one that only this transaction can see yet. */
export const addToSum = transaction(function* ({ sql, orders }, price: bigint) {
  yield* orders.create(toNew({ price }));
  const [row] = yield* sql<{ sum: bigint }>`SELECT sum(price) AS sum FROM orders`;
  const page = yield* orders.list({ limit: 1, order: 'dearest' } as never);
  return { sum: row?.sum, dearest: page?.body.read() };
});

/**
 * Moves an amount from one account to another, and records both sides as orders, in nine statements. Pets serve as
 * accounts.
 */
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

/** Ends, or runs forever: in a loop of its own (`spins`), or with one statement after the other (`asks`). */
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
