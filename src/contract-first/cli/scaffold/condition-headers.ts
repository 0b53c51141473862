/** Finds the headers of an operation that contain the entity tag of its record (RFC 9110, section 13). */
import type { Operation, Parameter } from '../../engine/contract/contract.ts';
import { keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { successOf } from './envelopes.ts';
import { fitsText } from './made-ids.ts';

/** For each method, the condition header that a written handler supports. */
const CONDITIONS: Record<string, RegExp> = {
  GET: /^if-none-match$/i,
  PUT: /^if-match$/i,
  PATCH: /^if-match$/i,
  DELETE: /^if-match$/i,
};

/** True if entity tags such as `"1"` fit the schema. */
const fitsTags = (schema: Schema | undefined): boolean =>
  schema !== undefined &&
  keywordsOf(schema).type === 'string' &&
  ['"0"', '"1"', '"1234567890"'].every((tag) => fitsText(tag, keywordsOf(schema)));

/** Returns the condition header that the operation's handler can support. A GET must also declare the reply 304. */
export function conditionOf({ method, parameters, replies }: Operation): Parameter | undefined {
  const isKnown = ({ in: location, name }: Parameter) => location === 'header' && CONDITIONS[method]?.test(name);
  const found = parameters.find((one) => isKnown(one) && fitsTags(one.schema));
  return method !== 'GET' || replies.some(({ status }) => status === '304') ? found : undefined;
}

/** True if the operation declares 428, the reply to a request without its condition header. */
export const declaresDemand = ({ replies }: Operation): boolean => replies.some(({ status }) => status === '428');

/**
 * True if a parameter is a condition header, such as `If-Match`. If a handler ignored it, changes of other clients
 * would be overwritten.
 */
export const isCondition = ({ in: location, name }: Parameter): boolean => location === 'header' && /^if-/i.test(name);

/**
 * Returns the name of the header `ETag` in the contract's spelling. Returns undefined if the reply with this status
 * does not declare the header, or if the header's schema does not allow a revision.
 */
export function tagHeaderOf({ method, replies }: Operation, status: string): string | undefined {
  const { headers = {} } = replies.find((one) => one.status === status) ?? {};
  const [name, header] = Object.entries(headers).find(([one]) => /^etag$/i.test(one)) ?? [];
  return method !== 'DELETE' && fitsTags(header?.schema) ? name : undefined;
}

/** True if the operation's handler needs the revision of the record. */
export const needsRevision = (operation: Operation): boolean =>
  conditionOf(operation) !== undefined || tagHeaderOf(operation, `${successOf(operation)?.status}`) !== undefined;
