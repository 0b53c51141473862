/** Finds the declared reply of a status, and how its media types are treated: JSON is parsed, others are passed on unchanged. */
import type { Reply } from './contract.ts';

/**
 * Returns the reply of the status, of its range, or the default. The result is undefined for an undeclared status, which the server's own
 * errors may have.
 */
export function replyFor<Declared extends Pick<Reply, 'status'>>(
  replies: Declared[],
  status: number,
): Declared | undefined {
  const names = [`${status}`, `${status}`.replace(/..$/, 'XX'), 'DEFAULT'];
  const declared = new Map(replies.map((reply) => [reply.status.toUpperCase(), reply]));
  return declared.get(names.find((name) => declared.has(name)) as string);
}

/** Returns each reply in each of its media types. */
export const inAllTypes = (replies: Reply[]): Reply[] => replies.flatMap((reply) => [reply, ...reply.others]);

export const PLAIN_JSON = 'application/json';
/** Whether a media type is JSON, by any of its names (RFC 6839, section 3.1). */
const JSON_TYPE = /^[a-z]+\/([\w.!#$&^-]+\+)?json$/i;

export const isJson = (type: string): boolean => JSON_TYPE.test(type);

/** Returns the media type in a header, without parameters: `application/json` for `Application/JSON; charset=utf-8`. */
export const toMediaType = (header: string): string => header.replace(/;.*/s, '').trim().toLowerCase();

/** Matches ranges of media types that are served as JSON. */
export const RANGE = /^(\*|application)\/\*/;

/** The media type that is served for a type or a range of the contract. */
export const toServedType = (name: string): string => (RANGE.test(name) ? PLAIN_JSON : toMediaType(name));

/**
 * Returns the `Content-Type` of a reply. JSON does not need a charset (RFC 8259, section 11), but replies have contained one since the
 * first release.
 */
export const contentTypeOf = (type: string): string =>
  type === PLAIN_JSON || type.startsWith('text/') ? `${type}; charset=utf-8` : type;
