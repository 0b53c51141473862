/** Moments: records with times of every kind, whose first fields may be absent. */
import type { AnyDescription } from '../../src/contract-first/store/tables/description.ts';

const moments = {
  noun: 'moment',
  schema: 'Moment',
  table: 'moments',
  columns: {
    "it's": { column: 'its', type: 'text', isOptional: true },
    isBig: { column: 'is_big', type: 'boolean', isOptional: true },
    size: { column: 'size', type: 'number', isOptional: true },
    at: { column: 'at', type: 'time', is: 'id' },
    until: { column: 'until', type: 'time', isOptional: true },
    place: { column: 'place', type: 'json', isOptional: true },
    labels: { column: 'labels', type: 'json', isNullable: true, first: null },
    revision: { column: 'revision', type: 'int64', set: 'revision' },
  },
  lists: { equal: ['until', 'size'], range: ['until', 'size'], orders: { byTime: 'at' } },
  unique: [{ fields: ['until'], code: 'until_taken' }],
  errors: {},
  migrations: new URL('./', import.meta.url),
} as const satisfies AnyDescription;

/** Marks, whose ids are optional although the store sets them. */
const marks = {
  noun: 'mark',
  schema: 'Mark',
  table: 'marks',
  columns: {
    text: { column: 'text', type: 'text', isOptional: true },
    id: { column: 'id', type: 'int64', set: 'id', isOptional: true },
    due: { column: 'due', type: 'time', isOptional: true },
  },
  lists: { equal: ['due'] },
  errors: {},
  migrations: new URL('marks/', import.meta.url),
} as const satisfies AnyDescription;

export const domain = { moments, marks };
