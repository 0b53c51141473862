/** The digest of a request, which is stored with its Idempotency-Key: another request with the same key is refused. */
import { hash } from 'node:crypto';
import { stringify } from 'lossless-json';

/**
 * A digest of parsed values, by which neither the order of fields counts, nor whether an integer is a bigint. A body that is read as a
 * stream has no fields, so it does not count.
 */
export const toDigest = (values: unknown[]): string =>
  hash('sha256', stringify(values, sortFields) as string, 'base64url');

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
