/** The media types of bodies: JSON, by any of its names (RFC 6839, section 3.1). */
import type { Json, Refuse } from './contract.ts';

export const PLAIN_JSON = 'application/json';
const JSON_TYPE = /^[a-z]+\/([\w.!#$&^-]+\+)?json$/i;

/** Those of a request or of a response: `name` is its name in problems. */
export function toTypes(content: Json, name: string, refuse: Refuse): string[] {
  const types = Object.keys(content);
  const others = types.filter((type) => !JSON_TYPE.test(type));
  if (others.length > 0)
    refuse(`${name}: ${others.join(', ')} is not supported, only ${PLAIN_JSON} and types with +json`);
  return types;
}

/** Of a header, without its parameters: `application/json` for `Application/JSON; charset=utf-8`. */
export const toMediaType = (header: string): string => header.replace(/;.*/s, '').trim().toLowerCase();
