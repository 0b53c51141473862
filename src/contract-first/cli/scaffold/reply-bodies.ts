/** Writes the body of a successful reply: the record or the list of records, and the fields around it. */
import { headersOfHandler } from '../../engine/replies/reply-headers.ts';
import { keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { withArticle } from '../../store/tables/table.ts';
import { type CheckedCode, code, joined, member, toLiteral, toPropertyName } from '../generate/source-text.ts';
import { toTyped } from './assumed-values.ts';
import { tagHeaderOf } from './condition-headers.ts';
import {
  type Envelope,
  envelopeOf,
  idNameOf,
  isEnvelopeOf,
  onlyOf,
  plain,
  schemaOfReply,
  successOf,
} from './envelopes.ts';
import { NotWritten, type Writing } from './handler-code.ts';

/**
 * Returns code for the value of a field next to the records. Returns undefined if the meaning of the field is unknown.
 */
export type ValueFor = (name: string, schema: Schema, isRequired: boolean) => CheckedCode | undefined;

/**
 * Writes the envelope. `value` is the code at the end of the path of fields.
 * @throws NotWritten if the meaning of a required field is unknown
 */
export function toEnvelope(
  writing: Writing,
  schema: Schema | undefined,
  [field, ...path]: string[],
  value: CheckedCode,
  valueFor: ValueFor,
): CheckedCode {
  if (field === undefined) return value;
  const { source } = writing;
  const { properties = {}, required = [] } = source.flat(onlyOf(schema, source));
  const fields = Object.entries(properties).flatMap(([name, one]): CheckedCode[] => {
    const isRequired = required.includes(name);
    const own =
      name === field
        ? toEnvelope(writing, one, path, value, valueFor)
        : (valueFor(name, source.flat(one), isRequired) ??
          toPart(writing, one, isRequired, valueFor) ??
          toDefault(writing, one) ??
          (isRequired ? assume(writing, name, one) : undefined));
    if (own) return [own.text.startsWith('...') ? own : code`${toPropertyName(name)}: ${own}`];
    if (isRequired) throw new NotWritten(`the field ${name} of its reply comes from nowhere`);
    return [];
  });
  return fields.length > 0 ? code`{ ${joined(fields, ', ')} }` : code`{}`;
}

/** Returns the default of a field. The type of a reply requires all fields with a default. */
function toDefault({ source }: Writing, schema: Schema): CheckedCode | undefined {
  const preset = toTyped(source.flat(schema).default, schema, source.flat);
  return preset === undefined ? undefined : toLiteral(preset);
}

/** Returns the contract's example of a field. Returns undefined if the contract lacks one, or without `--assume`. */
function assume({ plan, operation, findAssumed }: Writing, name: string, schema: Schema): CheckedCode | undefined {
  const value = findAssumed(schema);
  if (value === undefined) return undefined;
  plan.assumed.push(`${operation.id}: ${name} of its reply is the contract's example`);
  return code`${toLiteral(value)} /* assumed */`;
}

/**
 * Writes an object in the envelope, such as one about the page. Returns undefined if the meaning of one of its fields
 * is unknown.
 */
function toPart(
  { source }: Pick<Writing, 'source'>,
  schema: Schema,
  isRequired: boolean,
  valueFor: ValueFor,
): CheckedCode | undefined {
  const { properties, required = [] } = source.flat(schema);
  const values = Object.entries(properties ?? {}).map(([name, one]) => {
    const value = valueFor(name, source.flat(one), isRequired && required.includes(name));
    return value && (value.text.startsWith('...') ? value : code`${toPropertyName(name)}: ${value}`);
  });
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 && known.length === values.length ? code`{ ${joined(known, ', ')} }` : undefined;
}

/** Returns a function for the values of fields that report the success: `success: true`, `status: 200`. */
export function toSuccessValue(status: number): ValueFor {
  return (name, schema, isRequired) => {
    const { type, const: only, enum: listed = [], format } = keywordsOf(schema);
    const types = [type].flat();
    const word = plain(name);
    const [single] = listed.length === 1 ? listed : [only];
    if (single !== undefined && typeof single !== 'object') return toLiteral(single);
    if (types.includes('boolean') && /^(success|succeeded|ok|issuccess)$/.test(word)) return code`true`;
    const isPlain = listed.length === 0 && only === undefined;
    if (isPlain && types.includes('integer') && format !== 'int64' && /^(status|code|statuscode)$/.test(word))
      return toLiteral(status);
    if (!isRequired) return undefined;
    if (types.includes('null')) return code`null`;
    if (!isPlain || !types.includes('string')) return undefined;
    if (/^(message|msg)$/.test(word)) return toLiteral('Done.');
    return format === 'date-time' && word === 'timestamp' ? code`new Date().toISOString()` : undefined;
  };
}

/**
 * Writes the record or the list of records. If the reply's schema does not name all fields of the record, writes only
 * those that it names.
 */
export function toShownFields({ plan, source }: Writing, envelope: Envelope, records: CheckedCode): CheckedCode {
  const { properties = {} } = source.flat(envelope.schema);
  const shown = plan.columns.filter(({ name }) => name in properties);
  const isAll = shown.length === plan.columns.length;
  if (isAll) return envelope.isList && envelope.path.length > 0 ? code`${records}.read()` : records;
  const record = envelope.isList ? code`one` : records;
  const fields = shown.map(({ name, isOptional }) => {
    const [key, value] = [toPropertyName(name), member(record, name)];
    return isOptional ? code`...(${value} !== undefined && { ${key}: ${value} })` : code`${key}: ${value}`;
  });
  const object = code`{ ${joined(fields, ', ')} }`;
  return envelope.isList ? code`${records}.read().map((one) => (${object}))` : object;
}

/**
 * Writes the body of a reply that does not show the record: `{ success: true }`, `{ id, deleted: true }`, or `{}` if
 * the contract names no field.
 * @throws NotWritten if the body may be another object
 */
function toAcknowledgement(writing: Writing, schema: Schema | undefined, record: CheckedCode): CheckedCode {
  const { plan, operation, source } = writing;
  const { type, properties = {}, oneOf, anyOf } = source.flat(schema);
  const isDelete = operation.method === 'DELETE';
  const isAny = Object.keys(source.flat(schema)).every((keyword) => /^(title|description|examples?)$/.test(keyword));
  const isChange = operation.method !== 'GET' && (type === 'object' || isAny) && !oneOf && !anyOf;
  if (!isChange || (Object.keys(properties).length > MOST_TOLD && !isDelete))
    throw new NotWritten(`its reply is not ${withArticle(plan.record)}`);
  const values = toSuccessValue(Number(successOf(operation)?.status));
  const idName = idNameOf(plan, properties);
  const typeOfId = source.flat(source.flat(plan.schema).properties?.[plan.id.name]).type;
  const own: ValueFor = (name, one, isRequired) => {
    if (name === idName && keywordsOf(one).type === typeOfId) return member(record, plan.id.name);
    if (isDelete && keywordsOf(one).type === 'boolean' && /^(is)?deleted$/.test(plain(name))) return code`true`;
    return values(name, one, isRequired);
  };
  return toEnvelope(writing, schema, [''], code``, own);
}

/**
 * The maximum number of fields in a reply that does not show the record. A reply with more fields shows another object.
 * The limit does not apply to deletes.
 */
const MOST_TOLD = 5;

/**
 * True if a list in the reply contains only the one record. A GET with an id may instead list all records with a common
 * value, unless another operation creates or lists the records.
 */
const isListOfOne = ({ plan: { operations }, operation: { method } }: Writing): boolean =>
  method !== 'GET' || operations.has('create') || operations.has('list');

/**
 * Writes the status and the body of a reply with one record, as fields of the handler's result.
 * @throws NotWritten if the body of the reply is different, or if the reply requires unknown headers
 */
export function toReplyBody(writing: Writing, record: CheckedCode): [name: string, value: CheckedCode][] {
  const { plan, operation, source } = writing;
  const reply = successOf(operation);
  if (!reply) throw new NotWritten('it declares no success');
  const needed = headersOfHandler(operation, reply).find(
    ([name, { required }]) => required && !/^location$/i.test(name) && name !== tagHeaderOf(operation, reply.status),
  );
  if (needed) throw new NotWritten(`the header ${needed[0]} of its reply comes from nowhere`);
  const status = Number(reply.status);
  const answer: [string, CheckedCode] = ['status', toLiteral(status)];
  if (!reply.hasContent) return [answer];
  const envelope = envelopeOf(operation, plan, source);
  const schema = schemaOfReply(operation, reply, source);
  if (!isEnvelopeOf(envelope, plan, source)) return [answer, ['body', toAcknowledgement(writing, schema, record)]];
  const { isList } = envelope;
  if (isList && !isListOfOne(writing)) throw new NotWritten(`its reply is not ${withArticle(plan.record)}`);
  const own = toShownFields(writing, { ...envelope, isList: false }, record);
  const shown = isList ? code`[${own}]` : own;
  return [answer, ['body', toEnvelope(writing, schema, envelope.path, shown, toSuccessValue(status))]];
}
