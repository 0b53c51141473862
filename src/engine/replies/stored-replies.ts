/** What the store writes may be sent as it is only where the start has proven that it fits the reply. */
import type { Operation, Reply } from '../contract/contract.ts';
import { findLimit } from '../contract/parameters.ts';
import { keywordsOf, type Refuse, type Schema } from '../schema/json.ts';
import { isWithin, mergeAllOf } from '../schema/subsets.ts';

/** Whether this reply may be any record of a collection, or any list of them; else each text must be checked. */
export type IsProven = (reply: Reply, collection: string) => boolean;

/** `stored` is the schema of a record; its fields are all that the store writes. */
export function buildIsProven(kept: { name: string; stored: Schema }[]): IsProven {
  const records = new Map(kept.map(({ name, stored }) => [name, toWritten(stored)]));
  return ({ schema }, collection) => {
    const record = records.get(collection);
    return record !== undefined && (isWithin(record, schema) || isWithin({ type: 'array', items: record }, schema));
  };
}

/** As the store writes it: one of its parts may be closed, and forbid what another one has. */
function toWritten(stored: Schema): Schema {
  const { properties = {}, required = [] } = mergeAllOf(stored);
  return { type: 'object', properties, required, additionalProperties: false };
}

/** A page may have no record, and as many as its `limit`: a reply that forbids either would fail when it is too late. */
export function checkPages({ parameters, replies }: Operation, stored: Schema, refuse: Refuse): void {
  const limit = findLimit(parameters);
  const most = keywordsOf(limit?.schema).maximum ?? Number.POSITIVE_INFINITY;
  for (const { status, schema } of limit ? replies : []) {
    const { items, minItems = 0, maxItems = most } = mergeAllOf(schema);
    if (!items || !isWithin(toWritten(stored), items)) continue;
    if (minItems > 0) refuse(`response ${status}: its minItems is ${minItems}, and a page may be empty`);
    if (maxItems < most) refuse(`response ${status}: its maxItems is ${maxItems}, and parameter limit may be ${most}`);
  }
}
