/** What the store writes may be sent as it is only where the start has proven that it fits the reply. */
import type { Content, Operation, Reply } from '../contract/contract.ts';
import { findLimit } from '../contract/parameters.ts';
import type { Json, Refuse } from '../schema/json.ts';
import { isWithin, toFlat } from '../schema/subsets.ts';

/** Whether a record of the store, or a list of them, fits the reply; else each must be checked. */
export type IsProven = (reply: Reply) => boolean;

/** `stored` is the schema of a record; its fields are all that the store writes. */
export function buildIsProven(stored: Json): IsProven {
  const record = { ...stored, additionalProperties: false };
  return ({ schema }) => isWithin(record, schema) || isWithin({ type: 'array', items: record }, schema);
}

/** Every store gives the ids from 1 on. */
const ID = { type: 'integer', format: 'int64', minimum: 1 };

/**
 * A record that a request may send, and a reply may not have, would be stored before its reply fails. So an operation that answers
 * with what it was sent, and an id, is refused where not all that may be sent may be answered.
 */
export function checkCreated({ body, replies }: Operation, stored: Json, refuse: Refuse): void {
  const sent = (body?.contents ?? []).filter(({ kind }) => kind === 'json').map(toRecord);
  for (const reply of replies.filter(({ status, isJson }) => isJson && status.startsWith('2'))) {
    for (const record of sent.filter((one) => isCreated(one, reply, stored))) {
      if (isWithin(record, reply.schema)) continue;
      const fields = toFlat(reply.schema).properties;
      const fault = Object.keys(record.properties).find((name) => !isWithin(record.properties[name], fields[name]));
      const place = fault === undefined ? 'its body' : `its body.${fault}`;
      refuse(`response ${reply.status}: ${place} may not be all that a request may send, with any id from 1 on`);
    }
  }
}

/** A page may have no record, and as many as its `limit`: a reply that forbids either would fail when it is too late. */
export function checkPages({ parameters, replies }: Operation, stored: Json, refuse: Refuse): void {
  const limit = findLimit(parameters);
  const most = limit?.schema.maximum ?? Number.POSITIVE_INFINITY;
  for (const { status, schema } of limit ? replies : []) {
    const { items, minItems = 0, maxItems = most } = toFlat(schema);
    if (!items || !isWithin({ ...stored, additionalProperties: false }, items)) continue;
    if (minItems > 0) refuse(`response ${status}: its minItems is ${minItems}, and a page may be empty`);
    if (maxItems < most) refuse(`response ${status}: its maxItems is ${maxItems}, and parameter limit may be ${most}`);
  }
}

function toRecord({ schema }: Content): Json {
  const { properties = {}, required = [] } = toFlat(schema);
  const fields = Object.entries<Json>(properties).filter(([, field]) => !field.hidden);
  return {
    type: 'object',
    properties: { ...Object.fromEntries(fields), id: ID },
    required: [...required, 'id'],
    additionalProperties: false,
  };
}

/** Whether the reply has the fields of a record, and those of the request. */
function isCreated(record: Json, { schema }: Reply, stored: Json): boolean {
  const names = Object.keys(toFlat(schema).properties ?? {});
  const needed: string[] = [...Object.keys(record.properties), ...(toFlat(stored).required ?? [])];
  return needed.length > 1 && needed.every((name) => names.includes(name));
}
