/** Creates that are done once: what stores keep of them, and what they come to. */
import { hash } from 'node:crypto';
import { NEW_FIELDS, toWritten } from './columns.ts';
import type { Created, NewPet, Once } from './store.ts';

/** A create with a key. */
export interface Keyed extends Once {
  /** The same for the same pet, whatever the order and the spelling of its fields in the body was. */
  readonly digest: string;
}

/** What a key has created before. */
export interface Known {
  id: bigint;
  /** Whether it was the same pet. */
  isSame: boolean;
}

/** The id of the new pet, or what the key has created before. */
export type Outcome = bigint | Known;

/** A field that is added to pets later changes no digest of a pet without it. */
export function toKeyed(pet: NewPet, { caller, key, hours }: Once): Keyed {
  const fields = NEW_FIELDS.filter((field) => pet[field] !== undefined);
  const digest = hash('sha256', JSON.stringify(fields.map((field) => [field, String(pet[field])])), 'base64url');
  return { caller, key, hours, digest };
}

/** The pet is what was asked for, also where it was edited or deleted since: a client gets the answer that it has missed. */
export function toCreated(pet: NewPet, outcome: Outcome): Created | undefined {
  if (typeof outcome === 'bigint') return { pet: toWritten(outcome, pet), isReplayed: false };
  return outcome.isSame ? { pet: toWritten(outcome.id, pet), isReplayed: true } : undefined;
}
