/**
 * Forms (`multipart/form-data`, `application/x-www-form-urlencoded`): each field has a part, or several, which are text of simple types,
 * JSON, or files.
 */
import type { EncodingNode } from '../../engine/contract/document.ts';
import { isJson } from '../../engine/contract/media-types.ts';
import { fileOf, kindOfPart, type PartKind, partOf } from '../../engine/requests/form-fields.ts';
import { type Keywords, keywordsOf, type Refuse, type Schema } from '../../engine/schema/json.ts';
import { checkRawBody } from './media-types.ts';

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
