/** The entry point `contract-first/store`: the exports for a team's domain. */

export { readingOf, refused, transactionOf } from './changes/transactions.ts';
export { type Collection, type Idempotency, isRefused, type Page, type Refused } from './collection.ts';
export type { AnyDescription, CollectionOf, Description } from './tables/description.ts';
export { toStoredTime } from './tables/values.ts';
