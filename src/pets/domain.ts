/** Describes the collection `pets`: its columns and its lists. The compiler checks it against the contract. */
import type { Description } from 'contract-first/store';

export const pets = {
  noun: 'pet',
  schema: 'Pet',
  table: 'pets',
  columns: {
    id: { column: 'id', type: 'int64', set: 'id' },
    name: { column: 'name', type: 'text' },
    categoryId: { column: 'category_id', type: 'int64' },
    status: { column: 'status', type: 'text', isOptional: true },
  },
  lists: { equal: ['status'] },
  errors: { pet_not_found: { status: 404 } },
  migrations: new URL('migrations/', import.meta.url),
} as const satisfies Description<'Pet'>;
