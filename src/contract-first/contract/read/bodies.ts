/** Reads the media types of bodies, and reports bodies that the server could not read. */
import type { Content } from '../../engine/contract/contract.ts';
import type { EncodingNode, MediaNode } from '../../engine/contract/document.ts';
import { isJson, PLAIN_JSON, RANGE, toServedType } from '../../engine/contract/replies.ts';
import { fileOf, kindOfPart, type PartKind, partOf } from '../../engine/requests/form-fields.ts';
import { type Keywords, keywordsOf, type ReportProblem, reportIn, type Schema } from '../../engine/schema/json.ts';
import { ANNOTATION } from '../../engine/schema/keys.ts';
import { toPointerOf } from '../../json/pointer.ts';

/** The media types of forms (RFC 7578; HTML, section 4.10.21.8). */
const FORM = /^(multipart\/form-data|application\/x-www-form-urlencoded)$/i;
const TYPE = /^[a-z]+\/[\w.!#$&^+-]+$/i;

/**
 * Returns how the server reads a body: as JSON, as a form, or as bytes. A form with `format: binary` in its schema is
 * read as bytes.
 */
export function bodyKindOf(type: string, schema: Schema): Content['kind'] {
  if (isJson(type)) return 'json';
  return FORM.test(type) && keywordsOf(schema).format !== 'binary' ? 'form' : 'bytes';
}

type Contents = Record<string, MediaNode>;

/**
 * Returns the media types of a request or a reply. A range such as `application/*` is served as JSON, unless JSON
 * itself is declared.
 */
export function toTypes(
  content: Contents,
  location: string,
  report: ReportProblem,
): { type: string; media: MediaNode }[] {
  const served = Object.entries(content).filter(([name]) => !RANGE.test(name) || !(PLAIN_JSON in content));
  return served.map(([name, media]) => {
    const type = toServedType(name);
    if (!TYPE.test(type))
      report(`${location}: ${name} is not a media type, such as ${PLAIN_JSON}`, toPointerOf('content', name));
    return { type, media };
  });
}

/** Reports a raw body if its schema has rules such as `minLength`, because the server does not check raw bodies. */
export function reportRawBody(schema: Schema, type: string, name: string, report: ReportProblem): void {
  const { type: kind = 'string', format = 'binary', contentMediaType: _type, ...others } = keywordsOf(schema);
  const isFree =
    kind === 'string' &&
    (format === 'binary' || format === 'byte') &&
    Object.keys(others).every((key) => ANNOTATION.test(key));
  if (!isFree)
    report(`${name}: ${type} is passed on as it is: its schema may have type: string and format: binary only`);
}

/** True if a schema is an object with `properties`, so that the server can read each field of the form. */
export function isForm(schema: Schema): schema is Keywords & { properties: Record<string, Schema> } {
  const { type = 'object', properties } = keywordsOf(schema);
  return type === 'object' && properties !== undefined;
}

/**
 * Reports a form that the server cannot read. The server reads fields of simple types, fields with JSON, and files. A
 * field may occur several times.
 */
export function reportForm(schema: Schema, encoding: MediaNode['encoding'], report: ReportProblem): void {
  if (!isForm(schema)) {
    report('its body: a form needs a schema of type: object with properties');
    return;
  }
  for (const [name, field] of Object.entries(schema.properties)) {
    const at = toPointerOf(name);
    const part = partOf(field);
    const kind = kindOfPart(part);
    const file = fileOf(part);
    if (file !== undefined) reportRawBody(file, `file ${name}`, 'its body', reportIn(report, at));
    if (kind === undefined) {
      report(`its body: field ${name} of a form needs a schema of simple types, or of an array of them`, at);
    } else if (!isUsual(encoding?.[name] ?? {}, kind)) report(`its body: encoding of ${name} is not supported`, at);
  }
}

/** True if the server can read a part with this `encoding`. */
function isUsual({ style = 'form', explode = true, headers, contentType }: EncodingNode, kind: PartKind): boolean {
  if (style !== 'form' || !explode || headers) return false;
  if (kind === 'file' || contentType === undefined) return true;
  return kind === 'json' ? isJson(contentType) : contentType === 'text/plain';
}
