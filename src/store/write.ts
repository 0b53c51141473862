/** What is written to the records of a domain, in any store: plain data, which may be sent to a thread. */
import type { Fields, Idempotency } from './collection.ts';

/** A record to add, without a key: all that wait become one statement. */
export interface Create {
  collection: string;
  record: Fields;
}

/** What a create has come to: the number of its record, and its time. */
export interface Created {
  sequence: bigint;
  now: string;
}

/** A change of one record, once where it has a key. */
export interface Change {
  collection: string;
  /** `put` replaces a record, or creates it with this id. */
  kind: 'create' | 'update' | 'replace' | 'put' | 'delete';
  /** Undefined where a record is created. */
  id?: unknown;
  /** All fields that are written; of an update, those that change: null takes an optional one away. */
  record: Fields;
  /** Records that are created, all of them or none, in the place of one. */
  all?: Fields[] | undefined;
  /** The tenant whose records it meets, where they have tenants. */
  tenant: unknown;
  /** What is added to numbers. */
  add: Fields;
  /** The values that the record must have. */
  if: Fields | undefined;
  idempotency: Idempotency | undefined;
}

/** A transaction, by the name of its function. */
export interface Call {
  collection: string;
  call: string;
  input: unknown;
  /** The tenant whose records it meets, where they have tenants. */
  tenant: unknown;
  idempotency: Idempotency | undefined;
}

export const isCall = (write: Create | Change | Call): write is Call => 'call' in write;

/** What a change has come to. */
export interface Outcome {
  /** The record, or the list of records, as JSON; `true` where one was deleted; undefined where there is none; what a call has come to. */
  text?: string | undefined;
  /** Why nothing was done. */
  refused?: string;
  /** Whether the same change was sent before, and this was its outcome. */
  isReplayed?: boolean;
}

/** A key that is known, by its digest and the outcome that it has had. */
export interface KnownKey {
  digest: string;
  text: string;
}

export const toKeyText = ({ caller, operation, key }: Idempotency) => JSON.stringify([caller, operation, key]);
