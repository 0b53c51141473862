/** Transactions of one shop. */

import { readingOf, refused, transactionOf } from '../../src/contract-first/store/changes/transactions.ts';
import { isRefused, type SqlSteps } from '../../src/contract-first/store/collection.ts';
import type { domain } from './domain.ts';

/** The compiler knows no contract with items. */
type Method = (...values: unknown[]) => SqlSteps<Record<string, unknown> | undefined>;
type Methods = Record<'items' | 'lines' | 'labels', Record<'get' | 'list' | 'create' | 'update' | 'delete', Method>>;

const transaction = transactionOf<typeof domain>();
const reading = readingOf<typeof domain>();

/** Takes one piece of an item from the stock. */
export const sell = transaction(function* (given, { itemId, label }: { itemId: bigint; label?: string }) {
  const { items, lines } = given as unknown as Methods;
  if (!(yield* items.update(itemId, { stock: { add: -1n } }))) return refused('no_such_items');
  const line = yield* lines.create({ itemId, price: 1n, ...(label && { label }) });
  return isRefused(line)
    ? line
    : { line, item: yield* items.get(itemId), all: (yield* lines.list({ limit: 9 })) !== undefined };
});

export const see = reading(function* (given, itemId: bigint) {
  const { items, lines } = given as unknown as Methods;
  const page = (yield* lines.list({ limit: 9, order: 'cheapest' })) as unknown as { body: { read(): unknown[] } };
  const { sql, tenant } = given;
  const sums = yield* sql<{ sum: bigint }>`SELECT count(*) AS sum FROM lines WHERE shop = ${tenant as string}`;
  return { item: yield* items.get(itemId), lines: page.body.read(), tenant, ...sums[0] };
});
