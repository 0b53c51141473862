/** Proves which replies can send the store's JSON text as it is. */
import type { Operation } from '../../engine/contract/contract.ts';
import { inAllTypes } from '../../engine/contract/replies.ts';
import { keywordsOf, type Refuse, type Schema } from '../../engine/schema/json.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import type { AnyDomain } from '../../store/description.ts';
import { findLimit } from '../read/parameters.ts';
import { isWithin } from '../schema/subsets.ts';

/** By collection, the schemas of replies that every record of it, or every list of them, fits; each other text must be checked. */
export function findProven(
  operations: ReadonlyMap<string, Operation>,
  records: Readonly<Record<string, Schema>>,
  domain: AnyDomain,
): Record<string, Schema[]> {
  const replies = [...operations.values()].flatMap((operation) => inAllTypes(operation.replies));
  const schemas = [...new Set(replies.filter(({ isJson }) => isJson).map(({ schema }) => schema))];
  const proven = Object.entries(domain).map(([name, description]) => {
    const stored = records[description.schema];
    const record = stored === undefined ? false : toWritten(stored);
    const isProven = (schema: Schema) => isWithin(record, schema) || isWithin({ type: 'array', items: record }, schema);
    return [name, record ? schemas.filter(isProven) : []];
  });
  return Object.fromEntries(proven);
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
