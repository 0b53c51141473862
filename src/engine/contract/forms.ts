/**
 * Forms (`multipart/form-data`, `application/x-www-form-urlencoded`): each field has a part, or several, which are text of simple types,
 * JSON, or files.
 */
import { type Keywords, keywordsOf, type Refuse, type Schema } from '../schema/json.ts';
import type { EncodingNode } from './document.ts';
import { checkRawBody, isJson } from './media-types.ts';
import { isSimple, itemsOf, typesOf } from './parameters.ts';

/** The kinds of parts. Objects are JSON unless another media type is named (OpenAPI 3.1, section 4.8.15.1). */
export type PartKind = 'text' | 'json' | 'file';

export function kindOfPart(part: Schema): PartKind | undefined {
  if (fileOf(part)) return 'file';
  if (isSimple(part)) return 'text';
  return typesOf(part).every((type) => type === 'object') ? 'json' : undefined;
}

/** The alternative that is a file. */
function fileOf(part: Schema): Schema | undefined {
  const { format, anyOf = [], oneOf = [] } = keywordsOf(part);
  return format === 'binary' ? part : [...anyOf, ...oneOf].find(fileOf);
}

export const isRepeated = (field: Schema): boolean => typesOf(field).join() === 'array';

/** The schema of one part: the item's, if there may be several. */
export const partOf = (field: Schema): Schema => (isRepeated(field) ? (itemsOf(field) ?? field) : field);

/** Whether its fields can be read one by one. */
export function isForm(schema: Schema): schema is Keywords & { properties: Record<string, Schema> } {
  const { type = 'object', properties } = keywordsOf(schema);
  return type === 'object' && properties !== undefined;
}

export function checkForm(schema: Schema, encoding: Record<string, EncodingNode> | undefined, refuse: Refuse): void {
  if (!isForm(schema)) {
    refuse('its body: a form needs a schema of type: object with properties');
    return;
  }
  for (const [name, field] of Object.entries(schema.properties)) {
    const part = partOf(field);
    const kind = kindOfPart(part);
    const file = fileOf(part);
    if (file !== undefined) checkRawBody(file, `file ${name}`, 'its body', refuse);
    if (kind === undefined) {
      refuse(`its body: field ${name} of a form needs a schema of simple types, or of an array of them`);
    } else if (!isUsual(encoding?.[name] ?? {}, kind)) refuse(`its body: encoding of ${name} is not supported`);
  }
}

/** Whether the encoding of a part fits its kind. */
function isUsual({ style = 'form', explode = true, headers, contentType }: EncodingNode, kind: PartKind): boolean {
  if (style !== 'form' || !explode || headers) return false;
  if (kind === 'file' || contentType === undefined) return true;
  return kind === 'json' ? isJson(contentType) : contentType === 'text/plain';
}
