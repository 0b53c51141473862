/** The media types of bodies. JSON, by any of its names (RFC 6839, section 3.1), is parsed; others are passed on as they are. */

export const PLAIN_JSON = 'application/json';
const JSON_TYPE = /^[a-z]+\/([\w.!#$&^-]+\+)?json$/i;

export const isJson = (type: string): boolean => JSON_TYPE.test(type);

/** The media type in a header, without parameters: `application/json` for `Application/JSON; charset=utf-8`. */
export const toMediaType = (header: string): string => header.replace(/;.*/s, '').trim().toLowerCase();

/** The `Content-Type` of a reply. JSON has no charset (RFC 8259, section 11), but clients have seen one since the first release. */
export const toContentType = (type: string): string =>
  type === PLAIN_JSON || type.startsWith('text/') ? `${type}; charset=utf-8` : type;
