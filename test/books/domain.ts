/** Another domain, which has columns of every type: books. */
import type { AnyDescription } from '../../src/contract-first/store/tables/description.ts';

export const books = {
  noun: 'book',
  schema: 'Book',
  table: 'books',
  columns: {
    id: { column: 'id', type: 'int64', set: 'id' },
    title: { column: 'title', type: 'text' },
    isbn: { column: 'isbn', type: 'int64' },
    authors: { column: 'authors', type: 'json' },
    tags: { column: 'tags', type: 'json', isNullable: true },
    printedAt: { column: 'printed_at', type: 'text', isOptional: true },
    price: { column: 'price', type: 'number' },
    isLent: { column: 'is_lent', type: 'boolean', isOptional: true },
    rating: { column: 'rating', type: 'number', isNullable: true },
    series: { column: 'series', type: 'int64', isNullable: true },
    isSold: { column: 'is_sold', type: 'boolean', isNullable: true },
    shelf: { column: 'shelf', type: 'text', isNullable: true },
    note: { column: 'note', type: 'json', isOptional: true, isNullable: true },
  },
  lists: { equal: ['isbn', 'isLent', 'price'] },
  errors: {},
  migrations: new URL('migrations/', import.meta.url),
} as const satisfies AnyDescription;
