/** Creates that are done once: what stores keep of them, and what they come to. */
import { hash } from 'node:crypto';
import type { Created, Fields, Once } from './collection.ts';
import { type Table, toJsonText, toRecord } from './table.ts';

/** A create with a key. */
export interface Keyed extends Once {
  /** The same for the same record, whatever the order and the spelling of its fields in the body was. */
  readonly digest: string;
}

/** What a key has created before. */
export interface Known {
  id: bigint;
  /** Whether it was the same record. */
  isSame: boolean;
}

/** The id of the new record, or what the key has created before. */
export type Outcome = bigint | Known;

/** A field that is added to records later changes no digest of a record without it. */
export function toKeyed({ newFields }: Table, record: Fields, { caller, operation, key, hours }: Once): Keyed {
  const fields = newFields.filter(({ name }) => record[name] !== undefined);
  const digest = hash(
    'sha256',
    JSON.stringify(fields.map(({ name }) => [name, toJsonText(record[name])])),
    'base64url',
  );
  return { caller, operation, key, hours, digest };
}

/** The record is what was asked for, also where it was edited or deleted since: a client gets the answer that it has missed. */
export function toCreated(table: Table, record: Fields, outcome: Outcome): Created<Fields> | undefined {
  if (typeof outcome === 'bigint') return { record: toRecord(table, outcome, record), isReplayed: false };
  return outcome.isSame ? { record: toRecord(table, outcome.id, record), isReplayed: true } : undefined;
}
