/**
 * Lockers with columns that no client sees; their codes, which no schema describes; parcels, whose tenants no client
 * sees; and rules, whose ids no client sees.
 */
import type { AnyDescription } from '../../src/contract-first/store/tables/description.ts';

const lockers = {
  noun: 'locker',
  schema: 'Locker',
  table: 'lockers',
  columns: {
    id: { type: 'int64', set: 'id' },
    place: { type: 'text' },
    note: { type: 'text', isOptional: true },
  },
  internal: {
    site: { type: 'text', first: 'north' },
    openings: { type: 'int64', first: 0n },
    lastCode: { type: 'text', isOptional: true },
    settings: { type: 'json', first: { light: true } },
  },
  lists: { equal: ['site'], range: ['openings'], orders: { busiest: '-openings' } },
  unique: [{ fields: ['site', 'place'], code: 'conflict' }],
  errors: {},
  migrations: new URL('lockers/', import.meta.url),
} as const satisfies AnyDescription;

const codes = {
  noun: 'code',
  table: 'codes',
  columns: {
    code: { type: 'text', is: 'id' },
    lockerId: { type: 'int64', of: 'lockers', onDelete: 'delete' },
    usesLeft: { type: 'int32', first: 2 },
    price: { type: 'number', isNullable: true, first: null },
    madeAt: { type: 'time', set: 'created' },
  },
  errors: {},
  migrations: new URL('codes/', import.meta.url),
} as const satisfies AnyDescription;

const parcels = {
  noun: 'parcel',
  schema: 'Parcel',
  table: 'parcels',
  columns: {
    number: { type: 'uuid', set: 'id' },
    size: { type: 'text' },
    revision: { type: 'int64', set: 'revision' },
  },
  internal: { shop: { type: 'text', set: 'tenant' }, arrivedAt: { type: 'time', set: 'created' } },
  lists: { orders: { newest: '-arrivedAt' } },
  errors: {},
  migrations: new URL('parcels/', import.meta.url),
} as const satisfies AnyDescription;

const rules = {
  noun: 'rule',
  schema: 'Rule',
  table: 'rules',
  columns: {
    words: { type: 'text' },
    note: { type: 'text', isOptional: true },
  },
  internal: { place: { type: 'text', is: 'id' } },
  errors: {},
  migrations: new URL('rules/', import.meta.url),
} as const satisfies AnyDescription;

export const domain = { lockers, codes, parcels, rules };
