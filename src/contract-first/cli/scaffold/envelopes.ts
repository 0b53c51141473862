/** Finds the record in the body of a reply or a request: the body itself, a field of the body, or an item of a list. */
import { componentNameOf, type DocumentSource } from '../../contract/page/source.ts';
import type { Operation, Reply } from '../../engine/contract/contract.ts';
import type { MediaNode, ResponseNode } from '../../engine/contract/document.ts';
import { toServedType } from '../../engine/contract/replies.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';

/** The words that a contract uses for the records of a resource. */
export interface RecordWords {
  /** The name of the collection: `books`. */
  name: string;
  /** The name of one record: `book`. */
  noun: string;
  /** The parameter with the record's id, in the path of a record. */
  parameter: string;
}

export interface Envelope {
  /**
   * The name of the record's schema, in the form that a description uses: `Book` or `getBook().data`. Undefined if the
   * schema cannot be named in this form.
   */
  record: string | undefined;
  schema: Schema;
  isList: boolean;
  /** The names of the fields that lead from the body to the record or the list of records. */
  path: string[];
}

/** Splits a name into words of letters and digits, in lower case. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);

/** Returns the singular of a name: `spare part` for the words of `spareParts`. */
export const toSingular = (words: string[]): string =>
  words
    .join(' ')
    .replace(/ies$/, 'y')
    .replace(/(?<=ss|sh|ch|x)es$/, '')
    .replace(/(?<!s)s$/, '');

/** Returns only the letters and digits of a name, in lower case. */
export const plain = (name: string): string => wordsOf(name).join('');

export function idNameOf({ parameter, noun }: RecordWords, properties: Record<string, Schema>): string | undefined {
  const [last = ''] = wordsOf(parameter).slice(-1);
  const rest = plain(parameter).startsWith(plain(noun)) ? plain(parameter).slice(plain(noun).length) : '';
  const candidates = [
    parameter,
    'id',
    'uuid',
    `${noun} id`,
    ...(rest ? [rest] : []),
    ...(/^(slug|name|code|key|sku|number|username)$/.test(last) ? [last] : []),
  ].map(plain);
  return candidates
    .map((candidate) => Object.keys(properties).find((name) => plain(name) === candidate))
    .find((name) => name !== undefined);
}

/** Returns the reply with the lowest 2xx status. */
export const successOf = ({ replies }: Operation): Reply | undefined =>
  replies.filter(({ status }) => /^2\d\d$/.test(status)).sort((a, b) => Number(a.status) - Number(b.status))[0];

/** Returns the schema of a reply. References in the schema are not replaced. */
export function schemaOfReply(operation: Operation, reply: Reply, source: DocumentSource): Schema | undefined {
  const { responses = {} } = source.nodesOf(operation).source;
  const { content = {} } = source.follow(responses[reply.status]) as ResponseNode;
  const media = Object.entries(content).find(([name]) => toServedType(name) === reply.type)?.[1];
  return (source.follow(media) as MediaNode | undefined)?.schema;
}

/** Finds the record in the successful reply of an operation. */
export function envelopeOf(operation: Operation, words: RecordWords, source: DocumentSource): Envelope | undefined {
  const reply = successOf(operation);
  const schema = reply?.isJson && reply.hasContent ? schemaOfReply(operation, reply, source) : undefined;
  const found = schema === undefined ? undefined : findRecord(schema, words, source);
  if (!found) return undefined;
  const name = nameOf(found.schema, source);
  if (name !== undefined) return { ...found, record: name, schema: { $ref: `#/components/schemas/${name}` } };
  const isNamed = !found.isList && !operation.id.includes('()') && found.path.every((field) => !field.includes('.'));
  return { ...found, record: isNamed ? [`${operation.id}()`, ...found.path].join('.') : undefined };
}

/**
 * Returns the name of the component that a schema refers to. The schema may also extend the component by optional
 * fields.
 */
function nameOf(schema: Schema, source: DocumentSource): string | undefined {
  const { allOf = [], $ref: _ref, ...own } = keywordsOf(schema);
  const parts = [...allOf, own].map((part) => ({ name: componentNameOf(part), required: source.flat(part).required }));
  const named = parts.filter(({ name }) => name !== undefined);
  const isRequired = parts.some(({ name, required = [] }) => name === undefined && required.length > 0);
  return componentNameOf(schema) ?? (named.length === 1 && !isRequired ? named[0]?.name : undefined);
}

/** Matches common names of fields that contain the record, or the list of records. */
const CONTAINER = /^(data|result|results|items|records|content|values|entries|payload|response|rows|list|docs)$/;

/** True if the name of a body's field means that the field contains the record or the records. */
export const isContainer = (field: string, { name, noun }: RecordWords): boolean =>
  CONTAINER.test(plain(field)) || [plain(name), plain(noun)].includes(plain(field));

const MOST_FIELDS = 2;

type Found = Omit<Envelope, 'record'>;

function findRecord(given: Schema, words: RecordWords, source: DocumentSource, path: string[] = []): Found | undefined {
  const schema = onlyOf(given, source);
  const items = onlyOf(source.flat(schema).items, source);
  if (isList(source.flat(schema)))
    return isObject(source.flat(items)) ? { schema: keywordsOf(items), isList: true, path } : undefined;
  if (!isObject(source.flat(schema))) return undefined;
  const properties = propertiesOf(schema, source);
  const fields = idNameOf(words, properties) === undefined && path.length < MOST_FIELDS ? Object.keys(properties) : [];
  const at = (field: string) => findRecord(properties[field] as Schema, words, source, [...path, field]) ?? [];
  const inside = fields.filter((field) => isContainer(field, words)).flatMap(at);
  if (inside.length === 1) return inside[0];
  const lists = fields.filter((field) => isList(source.flat(properties[field])));
  const isPage = lists.length === 1 && fields.every((field) => field === lists[0] || isPaging(field));
  return isPage ? lists.flatMap(at)[0] : { schema, isList: false, path };
}

/** If a schema has only one alternative besides null, returns this alternative. Otherwise returns the schema itself. */
export function onlyOf<Given extends Schema | undefined>(schema: Given, source: DocumentSource): Given | Schema {
  const { oneOf = [], anyOf = [], properties } = source.flat(schema);
  const [only, ...others] = [...oneOf, ...anyOf].filter((one) => source.flat(one).type !== 'null');
  return only !== undefined && others.length === 0 && !properties ? onlyOf(only, source) : schema;
}

/**
 * Returns the fields of an object by name. If several subschemas of an `allOf` describe the same field, returns the
 * last schema, because it is usually the narrowest.
 */
function propertiesOf(schema: Schema, source: DocumentSource): Record<string, Schema> {
  const target = source.follow(schema);
  const { allOf = [], properties } = keywordsOf(target);
  return Object.assign({}, ...allOf.map((part) => propertiesOf(part, source)), properties);
}

const isList = ({ type = [] }: Keywords): boolean =>
  [type].flat().every((one) => /^(array|null)$/.test(one)) && [type].flat().includes('array');
const isObject = ({ properties, oneOf, anyOf }: Keywords): boolean => Boolean(properties) && !oneOf && !anyOf;

/** True if the name of a field next to the records means that it describes the page. */
export const isPaging = (name: string): boolean =>
  /^(total|count|size|limit|offset|skip|page|pages|next|has|per|current|cursor|after|number|links|meta)/i.test(name);

/**
 * True if each record also fits the schema in the envelope. Only names of fields are compared here. The compiler later
 * checks the types.
 */
export function isEnvelopeOf(
  envelope: Envelope | undefined,
  { record, id, columns }: { record: string; id: { name: string }; columns: { name: string }[] },
  source: DocumentSource,
): envelope is Envelope {
  if (!envelope || envelope.record === record) return envelope !== undefined;
  const { properties = {}, required = [] } = source.flat(envelope.schema);
  return id.name in properties && required.every((field) => columns.some(({ name }) => name === field));
}

/** The record in the body of a request: its fields, and the names of the fields that lead to it. */
export interface Given {
  fields: Record<string, Schema>;
  required: string[];
  path: string[];
}

export function givenOf(operation: Operation, words: RecordWords, source: DocumentSource): Given | undefined {
  const content = operation.body?.contents.find(({ kind }) => kind === 'json');
  if (!content) return undefined;
  const node = source.follow(source.nodesOf(operation).source.requestBody);
  const media = Object.entries({ ...node?.content }).find(([name]) => toServedType(name) === content.type)?.[1];
  const { properties = {}, required = [] } = source.flat(media?.schema);
  const [[only = '', inside] = [], ...others] = Object.entries(properties);
  const { properties: fields, required: needed = [] } = source.flat(inside);
  if (others.length > 0 || !isContainer(only, words) || !required.includes(only) || !fields)
    return { fields: properties, required, path: [] };
  return { fields, required: needed, path: [only] };
}
