/** `contract-first/store`: everything that a domain may import of the store. */
export { type Collection, type Idempotency, isRefused, type Page, type Refused } from './collection.ts';
export type { AnyDescription, CollectionOf, Description } from './description.ts';
export { readingOf, refused, transactionOf } from './transactions.ts';
export { toStoredTime } from './values.ts';
