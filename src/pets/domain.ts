/** What a pet is: what is kept of it, and what can be asked. The compiler holds it to the contract. */
import type { Domain } from '#store';

export const domain = {
  name: 'pets',
  noun: 'pet',
  schema: 'Pet',
  newSchema: 'NewPet',
  table: 'pets',
  columns: {
    id: { column: 'id', type: 'int64' },
    name: { column: 'name', type: 'text' },
    categoryId: { column: 'category_id', type: 'int64' },
    status: { column: 'status', type: 'text', isOptional: true },
  },
  filters: ['status'],
  errors: { pet_not_found: { status: 404 } },
  migrations: new URL('migrations/', import.meta.url),
} as const satisfies Domain<'Pet', 'NewPet'>;
