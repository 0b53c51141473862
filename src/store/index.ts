/** `#store`: all that a domain imports of the store. */
export type { Collection, Once, Page, Refused } from './collection.ts';
export type { AnyDescription, CollectionOf, Description } from './description.ts';
