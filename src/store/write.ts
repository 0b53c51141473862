/** A write to a domain's table, in any store. */
import type { Fields } from './collection.ts';
import type { Keyed, Outcome } from './once.ts';

/** A record to add, once where it has a key; with an id, one to put in the place of another, or to delete. */
export interface Write {
  /** Undefined where the record is deleted. */
  record: Fields | undefined;
  keyed?: Keyed | undefined;
  id?: bigint | undefined;
}

/** The id of a new record, or what its key has created before; whether there was one to edit. */
export type WriteOutcome = Outcome | boolean;
