/** Reads the media types of bodies, and reports bodies that cannot be served. */
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

/** Returns how a body of this type is read. A form with a schema of bytes is passed on without parsing. */
export function bodyKindOf(type: string, schema: Schema): Content['kind'] {
  if (isJson(type)) return 'json';
  return FORM.test(type) && keywordsOf(schema).format !== 'binary' ? 'form' : 'bytes';
}

type Contents = Record<string, MediaNode>;

/** The media types of a request or a response. For a range, JSON is served, unless JSON is declared with its own schema. */
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

/** Reports schemas of raw bodies that contain rules, because the server does not check raw bodies. */
export function reportRawBody(schema: Schema, type: string, name: string, report: ReportProblem): void {
  const { type: kind = 'string', format = 'binary', contentMediaType: _type, ...others } = keywordsOf(schema);
  const isFree =
    kind === 'string' &&
    (format === 'binary' || format === 'byte') &&
    Object.keys(others).every((key) => ANNOTATION.test(key));
  if (!isFree)
    report(`${name}: ${type} is passed on as it is: its schema may have type: string and format: binary only`);
}

/** Whether a form's fields can be read one by one. */
export function isForm(schema: Schema): schema is Keywords & { properties: Record<string, Schema> } {
  const { type = 'object', properties } = keywordsOf(schema);
  return type === 'object' && properties !== undefined;
}

/** Reports a form that the server cannot read. A field is sent as one or more parts: text of simple types, JSON, or files. */
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

/** Whether the encoding of a part fits its kind. */
function isUsual({ style = 'form', explode = true, headers, contentType }: EncodingNode, kind: PartKind): boolean {
  if (style !== 'form' || !explode || headers) return false;
  if (kind === 'file' || contentType === undefined) return true;
  return kind === 'json' ? isJson(contentType) : contentType === 'text/plain';
}
