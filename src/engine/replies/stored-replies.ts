/** Proves at the start which replies can send the store's JSON text as it is. */
import type { Operation, Reply } from '../contract/contract.ts';
import { findLimit } from '../contract/parameters.ts';
import { inAllTypes } from '../contract/replies.ts';
import { keywordsOf, type Refuse, type Schema } from '../schema/json.ts';
import { isWithin, mergeAllOf } from '../schema/subsets.ts';

/** Whether every record of a collection, or every list of them, fits this reply; otherwise each text must be checked. */
export type IsProven = (reply: Reply, collection: string) => boolean;

/** `stored` is the schema of a record. The store writes no other fields. */
export function buildIsProven(kept: { name: string; stored: Schema }[]): IsProven {
  const records = new Map(kept.map(({ name, stored }) => [name, toWritten(stored)]));
  return ({ schema }, collection) => {
    const record = records.get(collection);
    return record !== undefined && (isWithin(record, schema) || isWithin({ type: 'array', items: record }, schema));
  };
}

/** The record's schema as one closed object: a part of its `allOf` may itself be closed, and forbid the fields of another part. */
function toWritten(stored: Schema): Schema {
  const { properties = {}, required = [] } = mergeAllOf(stored);
  return { type: 'object', properties, required, additionalProperties: false };
}

/** A page may be empty, and may have as many records as the highest `limit`: a reply that forbids either would fail at run time. */
export function checkPages({ parameters, replies }: Operation, stored: Schema, refuse: Refuse): void {
  const limit = findLimit(parameters);
  const most = keywordsOf(limit?.schema).maximum ?? Number.POSITIVE_INFINITY;
  for (const { status, schema } of limit ? inAllTypes(replies) : []) {
    const { items, minItems = 0, maxItems = most } = mergeAllOf(schema);
    if (!items || !isWithin(toWritten(stored), items)) continue;
    if (minItems > 0) refuse(`response ${status}: its minItems is ${minItems}, and a page may be empty`);
    if (maxItems < most) refuse(`response ${status}: its maxItems is ${maxItems}, and parameter limit may be ${most}`);
  }
}
