import type { Description } from 'contract-first/store';

export const stations = {
  noun: 'station',
  schema: 'Station',
  table: 'stations',
  columns: {
    id: { column: 'id', type: 'text', set: 'id' },
    changedAt: { column: 'changed_at', type: 'time', set: 'changed' },
    name: { column: 'name', type: 'text' },
    region: { column: 'region', type: 'text' },
    height: { column: 'height', type: 'number', isOptional: true },
  },
  lists: { equal: ['region'] },
  unique: [{ fields: ['name'], code: 'name_taken' }],
  errors: { station_not_found: { status: 404 }, name_taken: { status: 409 }, test_failed: { status: 409 } },
  migrations: new URL('migrations/', import.meta.url),
} as const satisfies Description<'Station'>;
