/** Forms (`multipart/form-data`, `application/x-www-form-urlencoded`): each field is text of simple types, or a file, or several of one kind. */
import type { Json, Refuse } from '../schema/json.ts';
import { checkPassedOn } from './media-types.ts';
import { isSimple } from './parameters.ts';

export const isFile = ({ format }: Json): boolean => format === 'binary';

/** The schema of one part: that of an item, where there may be several. */
export const partOf = (field: Json): Json => (field.type === 'array' ? (field.items ?? {}) : field);

export function checkForm({ type, properties }: Json, encoding: Json, refuse: Refuse): void {
  if (type !== 'object' || !properties) {
    refuse('its body: a form needs a schema of type: object with properties');
    return;
  }
  if (encoding) refuse('its body: encoding is not supported');
  for (const [name, field] of Object.entries<Json>(properties)) {
    const part = partOf(field);
    if (isFile(part)) checkPassedOn(part, `file ${name}`, 'its body', refuse);
    else if (!isSimple(part)) {
      refuse(`its body: field ${name} of a form needs a schema of simple types, or of an array of them`);
    }
  }
}
