/** Finds the declared reply of a status, and distinguishes JSON from other media types. */
import type { Reply } from './contract.ts';

/**
 * Returns the declared reply for a status: the one for this status, or else for its range (`4XX`), or else `default`.
 * Returns undefined if none of them is declared, which can happen for the server's own errors.
 */
export function replyFor<Declared extends Pick<Reply, 'status'>>(
  replies: Declared[],
  status: number,
): Declared | undefined {
  const names = [`${status}`, `${status}`.replace(/..$/, 'XX'), 'DEFAULT'];
  const declared = new Map(replies.map((reply) => [reply.status.toUpperCase(), reply]));
  return declared.get(names.find((name) => declared.has(name)) as string);
}

/** Lists each reply once for each of its media types. */
export const inAllTypes = (replies: Reply[]): Reply[] => replies.flatMap((reply) => [reply, ...reply.others]);

export const PLAIN_JSON = 'application/json';
/** Matches JSON and media types that end in `+json` (RFC 6839, section 3.1). */
const JSON_TYPE = /^[a-z]+\/([\w.!#$&^-]+\+)?json$/i;

export const isJson = (type: string): boolean => JSON_TYPE.test(type);

/**
 * Returns the media type in a header without its parameters: `application/json` for `Application/JSON; charset=utf-8`.
 */
export const toMediaType = (header: string): string => header.replace(/;.*/s, '').trim().toLowerCase();

/** Matches ranges of media types that the server answers with JSON, such as `application/*`. */
export const RANGE = /^(\*|application)\/\*/;

/**
 * Returns the media type that the server sends for a media type, or a range such as `application/*`, of the contract.
 */
export const toServedType = (name: string): string => (RANGE.test(name) ? PLAIN_JSON : toMediaType(name));

/**
 * Returns the `Content-Type` of a reply. JSON does not need a charset (RFC 8259, section 11), but replies have
 * contained one since the first release.
 */
export const contentTypeOf = (type: string): string =>
  type === PLAIN_JSON || type.startsWith('text/') ? `${type}; charset=utf-8` : type;
