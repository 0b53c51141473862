/** Checks the values of a form's fields, which are text, JSON or files. */
import { toPointerToken } from '../../json/pointer.ts';
import type { Content } from '../contract/contract.ts';
import type { EncodingNode } from '../contract/document.ts';
import { invalidRequest } from '../errors/catalogue.ts';
import { Problem, problemAt } from '../errors/problem.ts';
import { buildToBigints } from '../schema/bigints.ts';
import type { BuildCheck } from '../schema/checks.ts';
import { int64sOf, int64sUnder } from '../schema/int64-map.ts';
import { keywordsOf, type ReportProblem, type Schema } from '../schema/json.ts';
import { isSimple, itemsOf, typesOf } from '../schema/value-types.ts';
import type { Values } from './parameter-values.ts';
import { buildToValue, parseInner, REPEATED } from './text-coercion.ts';

export type Bytes = AsyncIterable<Uint8Array>;

export interface FormField<Name = string, Value = unknown> {
  name: Name;
  value: Value;
}

export interface FormFile<Name = string> {
  name: Name;
  /** The name of the file, without folders; undefined if the client gave none. */
  filename: string | undefined;
  /** The `Content-Type` that the client has sent with the file. */
  contentType: string;
  /** The bytes of the file. Read them before you take the next part: bytes that are unread by then are dropped. */
  content: Bytes;
}

export type FormPart = FormField | FormFile;

/**
 * How a form part is read. By default, a part is JSON if its schema describes an object. The contract can name another
 * media type (OpenAPI 3.1, section 4.8.15.1).
 */
export type PartKind = 'text' | 'json' | 'file';

export function kindOfPart(part: Schema): PartKind | undefined {
  if (fileOf(part)) return 'file';
  if (isSimple(part)) return 'text';
  return typesOf(part).every((type) => type === 'object') ? 'json' : undefined;
}

/**
 * Returns the schema of a file: the given schema, or an alternative in its `anyOf` or `oneOf`. Returns undefined if the
 * part cannot be a file.
 */
export function fileOf(part: Schema): Schema | undefined {
  const { format, anyOf = [], oneOf = [] } = keywordsOf(part);
  return format === 'binary' ? part : [...anyOf, ...oneOf].find(fileOf);
}

const isRepeated = (field: Schema): boolean => typesOf(field).join() === 'array';

/**
 * Returns the schema of a single part. If a form may contain several parts for the field, the field is an array, and
 * this is the schema of its items.
 */
export const partOf = (field: Schema): Schema => (isRepeated(field) ? (itemsOf(field) ?? field) : field);

/** How many parts a field may have if its schema does not set `maxItems`. */
const MAX_ITEMS = 1000;

/**
 * Builds the check that runs at the end of a form. The check throws if a required field is missing, or if a field has
 * too few or too many parts. The check also fills in the defaults of fields that were not sent.
 */
export function buildCheckForm(buildCheck: BuildCheck, schema: Schema, report: ReportProblem): (given: Values) => void {
  const properties = formFieldsOf(schema).map(([name, field]) => {
    if (!isFile(field)) return [name, field];
    return [name, isRepeated(field) ? { ...keywordsOf(field), items: true } : true];
  });
  const body = { ...keywordsOf(schema), properties: Object.fromEntries(properties) };
  const check = buildCheck(body, { name: 'request.body', at: '/body', fillsDefaults: true }, report);
  return (given) => {
    const problems = check(given);
    if (problems) throw invalidRequest(problems);
  };
}

export const formFieldsOf = (form: Schema) => Object.entries(keywordsOf(form).properties as Record<string, Schema>);

export const isFile = (field: Schema) => kindOfPart(partOf(field)) === 'file';

/**
 * Returns the media types in the Encoding Object of a field, such as `image/png, image/*` (OpenAPI 3.1, section
 * 4.8.15).
 */
const toTypes = ({ contentType = '' }: EncodingNode = {}): string[] =>
  contentType.split(',').flatMap((type) => type.trim() || []);

const isAmong = (types: string[], type: string) =>
  types.length === 0 || types.some((one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))));

/**
 * Checks a part, converts its value, and adds the value to `given`.
 * @throws HttpError if the part is not valid
 */
export type Take = (part: FormPart, given: Values) => void;

/** Builds the checks of parts, by the names of their fields. */
export const buildTakes = (buildCheck: BuildCheck, content: Content): Map<string, Take> =>
  new Map(formFieldsOf(content.schema).map(([name, field]) => [name, buildTake(buildCheck, content, name, field)]));

function buildTake(buildCheck: BuildCheck, { schema, encoding }: Content, name: string, field: Schema): Take {
  const types = toTypes(encoding?.[name]);
  const part = partOf(field);
  const isList = isRepeated(field);
  const { maxItems = MAX_ITEMS } = keywordsOf(field);
  const ofField = int64sUnder(int64sOf(schema), 'properties', name);
  const int64s = isList ? int64sUnder(ofField, 'items', '') : ofField;
  const kind = kindOfPart(part);
  const options = { name, at: toLocation(name), int64s };
  const check = buildCheck(kind === 'file' ? true : part, options, () => {});
  const isValid = (value: unknown) => check(value) === undefined;
  const read = kind === 'text' ? buildToValue(part, int64s.isInt64, () => isValid) : undefined;
  const toBigints = buildToBigints(kind === 'json' ? int64s : undefined);
  const toValue = (taken: FormPart) => {
    if ('value' in taken) return read ? read(taken.value as string) : toJson(taken.value as string, name);
    if (!isAmong(types, taken.contentType)) throw invalidPart(name, 'type', `must be of type ${types.join(' or ')}`);
    return true;
  };
  return (taken, given) => {
    const checked = toValue(taken);
    const problems = check(checked);
    if (problems) throw invalidRequest(problems);
    if (!isList && name in given) throw invalidPart(name, ...REPEATED);
    const items = (given[name] ?? []) as unknown[];
    if (isList && items.length >= maxItems) throw invalidPart(name, 'maxItems', `must have at most ${maxItems} items`);
    const value = toBigints ? toBigints(checked) : checked;
    given[name] = isList ? items : value;
    items.push(value);
    if ('value' in taken) taken.value = value;
  };
}

function toJson(text: string, name: string): unknown {
  const value = parseInner(text, toLocation(name));
  if (value instanceof Problem) throw invalidRequest([value]);
  return value;
}

const toLocation = (name: string) => `/body/${toPointerToken(name)}`;

export const invalidPart = (name: string, code: string, words: string) =>
  invalidRequest([problemAt(toLocation(name), code, words)]);
