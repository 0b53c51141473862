/** Finds the headers of an operation that are about the entity tag of its record (RFC 9110, section 13). */
import type { Operation, Parameter } from '../../engine/contract/contract.ts';
import { keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { successOf } from './envelopes.ts';
import { fitsText } from './made-ids.ts';

/** The condition whose meaning is known, by the method of the operation. */
const CONDITIONS: Record<string, RegExp> = {
  GET: /^if-none-match$/i,
  PUT: /^if-match$/i,
  PATCH: /^if-match$/i,
  DELETE: /^if-match$/i,
};

/** Whether texts such as `"1"` fit the schema. */
const fitsTags = (schema: Schema | undefined): boolean =>
  schema !== undefined &&
  keywordsOf(schema).type === 'string' &&
  ['"0"', '"1"', '"1234567890"'].every((tag) => fitsText(tag, keywordsOf(schema)));

/** Returns the condition that the handler of the operation can honour. A get must declare 304. */
export function conditionOf({ method, parameters, replies }: Operation): Parameter | undefined {
  const isKnown = ({ in: location, name }: Parameter) => location === 'header' && CONDITIONS[method]?.test(name);
  const found = parameters.find((one) => isKnown(one) && fitsTags(one.schema));
  return method !== 'GET' || replies.some(({ status }) => status === '304') ? found : undefined;
}

/** Whether the contract declares 428, for a request without its condition. */
export const declaresDemand = ({ replies }: Operation): boolean => replies.some(({ status }) => status === '428');

/** Whether a parameter is a condition, such as `If-Match`. A condition that is ignored would lose a change. */
export const isCondition = ({ in: location, name }: Parameter): boolean => location === 'header' && /^if-/i.test(name);

/** Returns the name of the header `ETag` as the contract spells it, if a reply with this status declares it and a revision fits it. */
export function tagHeaderOf({ method, replies }: Operation, status: string): string | undefined {
  const { headers = {} } = replies.find((one) => one.status === status) ?? {};
  const [name, header] = Object.entries(headers).find(([one]) => /^etag$/i.test(one)) ?? [];
  return method !== 'DELETE' && fitsTags(header?.schema) ? name : undefined;
}

/** Whether the operation needs the revision of its record. */
export const needsRevision = (operation: Operation): boolean =>
  conditionOf(operation) !== undefined || tagHeaderOf(operation, `${successOf(operation)?.status}`) !== undefined;
