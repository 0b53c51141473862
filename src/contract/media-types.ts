/** The media types of bodies. JSON, by any of its names (RFC 6839, section 3.1), is understood; all others are passed on as they are. */

import type { Json, Refuse } from '../schema/json.ts';
import { ANNOTATION } from '../schema/references.ts';
import type { Content } from './contract.ts';

export const PLAIN_JSON = 'application/json';
const JSON_TYPE = /^[a-z]+\/([\w.!#$&^-]+\+)?json$/i;
const TYPE = /^[a-z]+\/[\w.!#$&^+-]+$/i;

export const isJson = (type: string): boolean => JSON_TYPE.test(type);

export const kindOf = (type: string): Content['kind'] =>
  isJson(type) ? 'json' : type.toLowerCase() === 'multipart/form-data' ? 'form' : 'bytes';

/** Those of a request or of a response: `name` is its name in problems. */
export function toTypes(content: Json, name: string, refuse: Refuse): string[] {
  const types = Object.keys(content);
  for (const type of types.filter((text) => !TYPE.test(text))) {
    refuse(`${name}: ${type} is not supported: name one media type, without * and parameters`);
  }
  return types;
}

/** What is passed on as it is, is not checked: so its schema must not say anything that could be broken. */
export function checkPassedOn(schema: Json, type: string, name: string, refuse: Refuse): void {
  const { type: kind = 'string', format = 'binary', contentMediaType: _type, ...others } = schema;
  const isFree = kind === 'string' && format === 'binary' && Object.keys(others).every((key) => ANNOTATION.test(key));
  if (!isFree)
    refuse(`${name}: ${type} is passed on as it is: its schema may have type: string and format: binary only`);
}

/** Of a header, without its parameters: `application/json` for `Application/JSON; charset=utf-8`. */
export const toMediaType = (header: string): string => header.replace(/;.*/s, '').trim().toLowerCase();
