/** The fields of a form: text, JSON or files. */
import { keywordsOf, type Schema } from '../schema/json.ts';
import { isSimple, itemsOf, typesOf } from '../schema/value-types.ts';

/** The kinds of parts. Objects are JSON unless another media type is named (OpenAPI 3.1, section 4.8.15.1). */
export type PartKind = 'text' | 'json' | 'file';

export function kindOfPart(part: Schema): PartKind | undefined {
  if (fileOf(part)) return 'file';
  if (isSimple(part)) return 'text';
  return typesOf(part).every((type) => type === 'object') ? 'json' : undefined;
}

/** The alternative that is a file. */
export function fileOf(part: Schema): Schema | undefined {
  const { format, anyOf = [], oneOf = [] } = keywordsOf(part);
  return format === 'binary' ? part : [...anyOf, ...oneOf].find(fileOf);
}

export const isRepeated = (field: Schema): boolean => typesOf(field).join() === 'array';

/** The schema of one part: the item's, if there may be several. */
export const partOf = (field: Schema): Schema => (isRepeated(field) ? (itemsOf(field) ?? field) : field);
