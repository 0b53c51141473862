/** Reads the media types of bodies, and refuses those that cannot be served. */
import type { Content } from '../../engine/contract/contract.ts';
import type { MediaNode } from '../../engine/contract/document.ts';
import { isJson, PLAIN_JSON, toMediaType } from '../../engine/contract/media-types.ts';
import { keywordsOf, type Refuse, type Schema } from '../../engine/schema/json.ts';
import { ANNOTATION } from '../../engine/schema/keys.ts';

/** The media types of forms (RFC 7578; HTML, section 4.10.21.8). */
const FORM = /^(multipart\/form-data|application\/x-www-form-urlencoded)$/i;
const RANGE = /^(\*|application)\/\*/;
const TYPE = /^[a-z]+\/[\w.!#$&^+-]+$/i;

/** A form whose schema is bytes is passed on unparsed. */
export function kindOf(type: string, schema: Schema): Content['kind'] {
  if (isJson(type)) return 'json';
  return FORM.test(type) && keywordsOf(schema).format !== 'binary' ? 'form' : 'bytes';
}

type Contents = Record<string, MediaNode>;

/** The media types of a request or a response. For a range, JSON is served, unless JSON has its own schema. */
export function toTypes(content: Contents, place: string, refuse: Refuse): { type: string; media: MediaNode }[] {
  const served = Object.entries(content).filter(([name]) => !RANGE.test(name) || !(PLAIN_JSON in content));
  return served.map(([name, media]) => {
    const type = RANGE.test(name) ? PLAIN_JSON : toMediaType(name);
    if (!TYPE.test(type)) refuse(`${place}: ${name} is not a media type, such as ${PLAIN_JSON}`);
    return { type, media };
  });
}

/** Raw bodies are not checked, so this refuses schemas with rules that a body could break. */
export function checkRawBody(schema: Schema, type: string, name: string, refuse: Refuse): void {
  const { type: kind = 'string', format = 'binary', contentMediaType: _type, ...others } = keywordsOf(schema);
  const isFree =
    kind === 'string' &&
    (format === 'binary' || format === 'byte') &&
    Object.keys(others).every((key) => ANNOTATION.test(key));
  if (!isFree)
    refuse(`${name}: ${type} is passed on as it is: its schema may have type: string and format: binary only`);
}
