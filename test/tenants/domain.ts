/**
 * Items and labels of several shops, and the lines of orders, which refer to them. No shop can see the records of
 * another.
 */
import type { AnyDescription } from '../../src/contract-first/store/tables/description.ts';

const shop = { column: 'shop', type: 'text', set: 'tenant' } as const;

const items = {
  noun: 'item',
  schema: 'Item',
  table: 'items',
  columns: {
    id: { column: 'id', type: 'int64', set: 'id' },
    shop,
    name: { column: 'name', type: 'text' },
    stock: { column: 'stock', type: 'int64', first: 9n },
  },
  unique: [{ fields: ['name'], code: 'name_taken' }],
  errors: {},
  migrations: new URL('items/', import.meta.url),
} as const satisfies AnyDescription;

const labels = {
  noun: 'label',
  schema: 'Label',
  table: 'labels',
  columns: { code: { column: 'code', type: 'text', is: 'id' }, shop, words: { column: 'words', type: 'text' } },
  errors: {},
  migrations: new URL('labels/', import.meta.url),
} as const satisfies AnyDescription;

const lines = {
  noun: 'line',
  schema: 'Line',
  table: 'lines',
  columns: {
    number: { column: 'number', type: 'uuid', set: 'id' },
    shop,
    itemId: { column: 'item_id', type: 'int64', of: 'items', onDelete: 'delete' },
    label: { column: 'label', type: 'text', isOptional: true, of: 'labels' },
    price: { column: 'price', type: 'int64' },
  },
  lists: { range: ['price'], orders: { cheapest: 'price' } },
  errors: {},
  migrations: new URL('lines/', import.meta.url),
} as const satisfies AnyDescription;

/** Clerks belong to no shop. */
const clerks = {
  noun: 'clerk',
  schema: 'Clerk',
  table: 'clerks',
  columns: { id: { column: 'id', type: 'int64', set: 'id' }, name: { column: 'name', type: 'text' } },
  errors: {},
  migrations: new URL('clerks/', import.meta.url),
} as const satisfies AnyDescription;

export const domain = { items, labels, lines, clerks };
