/** `#store`: all that a domain imports of the store. */
export type { Collection, Once, Page } from './collection.ts';
export type { CollectionOf, Domain } from './description.ts';
