/** Finds the declared reply of a status, and how its media types are treated: JSON is parsed, others are passed on unchanged. */
import type { Reply } from './contract.ts';

/** The reply of the status, of its range, or the default. The server's own errors may have an undeclared status. */
export function replyFor<Declared extends Pick<Reply, 'status'>>(
  replies: Declared[],
  status: number,
): Declared | undefined {
  const names = [`${status}`, `${status}`.replace(/..$/, 'XX'), 'DEFAULT'];
  const declared = new Map(replies.map((reply) => [reply.status.toUpperCase(), reply]));
  return declared.get(names.find((name) => declared.has(name)) as string);
}

/** Each reply in each of its media types. */
export const inAllTypes = (replies: Reply[]): Reply[] => replies.flatMap((reply) => [reply, ...reply.others]);

export const PLAIN_JSON = 'application/json';
/** JSON by any of its names (RFC 6839, section 3.1). */
const JSON_TYPE = /^[a-z]+\/([\w.!#$&^-]+\+)?json$/i;

export const isJson = (type: string): boolean => JSON_TYPE.test(type);

/** The media type in a header, without parameters: `application/json` for `Application/JSON; charset=utf-8`. */
export const toMediaType = (header: string): string => header.replace(/;.*/s, '').trim().toLowerCase();

/** The `Content-Type` of a reply. JSON needs no charset (RFC 8259, section 11), but clients have seen one since the first release. */
export const contentTypeOf = (type: string): string =>
  type === PLAIN_JSON || type.startsWith('text/') ? `${type}; charset=utf-8` : type;
