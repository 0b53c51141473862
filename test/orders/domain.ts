/**
 * Collections with everything that a store can set or change: orders, whose ids the store generates; coupons, whose ids
 * clients choose; and pets.
 */
import type { AnyDescription } from '../../src/contract-first/store/tables/description.ts';
import { pets } from '../../src/pets/domain.ts';

export const orders = {
  noun: 'order',
  schema: 'Order',
  table: 'orders',
  columns: {
    number: { column: 'number', type: 'uuid', set: 'id' },
    petId: { column: 'pet_id', type: 'int64', isOptional: true, of: 'pets' },
    couponCode: { column: 'coupon_code', type: 'text', isOptional: true, of: 'coupons' },
    price: { column: 'price', type: 'int64' },
    pieces: { column: 'pieces', type: 'int32', first: 1 },
    weight: { column: 'weight', type: 'number', first: 1 },
    note: { column: 'note', type: 'text', isOptional: true },
    gift: { column: 'gift', type: 'json', isNullable: true, first: null },
    status: { column: 'status', type: 'text', first: 'placed' },
    dueAt: { column: 'due_at', type: 'time', isOptional: true },
    placedAt: { column: 'placed_at', type: 'time', set: 'created' },
    changedAt: { column: 'changed_at', type: 'time', set: 'changed' },
    revision: { column: 'revision', type: 'int64', set: 'revision' },
  },
  lists: {
    equal: ['status', 'pieces'],
    range: ['price', 'weight', 'dueAt', 'pieces'],
    prefix: ['note'],
    orders: {
      newest: '-placedAt',
      cheapest: 'price',
      dearest: '-price',
      lightest: 'weight',
      byPieces: 'pieces',
      byStatus: 'status',
    },
  },
  unique: [
    { fields: ['note', 'status'], code: 'note_taken' },
    { fields: ['petId'], code: 'pet_sold' },
  ],
  errors: {},
  migrations: new URL('orders/', import.meta.url),
} as const satisfies AnyDescription;

export const coupons = {
  noun: 'coupon',
  schema: 'Coupon',
  table: 'coupons',
  columns: {
    code: { column: 'code', type: 'text', is: 'id' },
    left: { column: 'left_over', type: 'int64' },
  },
  errors: {},
  migrations: new URL('coupons/', import.meta.url),
} as const satisfies AnyDescription;

/** An order refers to a pet and to a coupon, so the table of orders is created last. */
export const domain = { orders, coupons, pets };
