/** Writes as plain data, which can be sent to a thread. */
import type { Fields, Idempotency } from './collection.ts';

/** A create without an `Idempotency-Key`: all that wait become one statement. */
export interface Create {
  collection: string;
  record: Fields;
}

/** The outcome of a create: the sequence number of the record, and its time. */
export interface Created {
  sequence: bigint;
  now: string;
}

/** A change of one record, idempotent if it has a key. */
export interface Change {
  collection: string;
  /** `put` replaces a record, or creates it with this id. */
  kind: 'create' | 'update' | 'replace' | 'put' | 'delete';
  /** Undefined for creates. */
  id?: unknown;
  /** The fields to write; in an update, those that change, where null removes an optional one. */
  record: Fields;
  /** Several records to create, all or none. */
  all?: Fields[] | undefined;
  /** The tenant whose records it meets, where they have tenants. */
  tenant: unknown;
  /** The amounts to add to numbers. */
  add: Fields;
  /** The objects to merge into those of the record (RFC 7396). */
  merge?: Fields;
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

/** The outcome of a change. */
export interface Outcome {
  /** As JSON: the record, the list of records, or the result of a transaction; `true` after a delete; undefined if there is no record. */
  text?: string | undefined;
  /** The code with which the change was refused. */
  refused?: string;
  /** Whether this is the outcome of an earlier change with the same key. */
  isReplayed?: boolean;
}
