/**
 * The server's own errors in a contract that has others: its schema is filled by the names and types of its fields, such as those of
 * RFC 9457. That each filled body fits the schema is checked with all that the server sends.
 */
import type { Contract, Operation, Reply } from '../contract/contract.ts';
import type { ErrorParts, ToErrorBody } from '../contract/error-body.ts';
import { PLAIN_JSON, toContentType } from '../contract/media-types.ts';
import { replyFor } from '../contract/replies.ts';
import { Failure } from '../errors.ts';
import { Problem } from '../problem.ts';
import type { Check } from '../schema/checks.ts';
import type { Json } from '../schema/json.ts';
import { targetOf } from '../schema/recursion.ts';
import { toFlat } from '../schema/subsets.ts';

const STATUS = /^(http)?_?(status|code|status_?code|error_?code|errno)$/i;
const CODE = /^(error_?)?(code|type|id|key|name|slug|kind|title)$|^error$/i;
const MESSAGE = /message|detail|description|text|reason|summary|msg/i;
const DONE = /^(success|succeeded|ok)$/i;

/** How deep the objects of an error are at most. */
const DEEPEST = 4;

/** How an error is written in a reply of this schema: as the contract says for all, or as the schema has it. */
export function buildToErrorBodyOf(
  { schema, status }: Reply,
  { toErrorBody, document }: Contract,
  check: Check,
): ToErrorBody {
  // A status of theirs may be one of a few: that of this reply.
  const { body: any } = new Failure('internal_error', 'x', { problems: [new Problem('/body', 'x', 'x')] });
  const fits = (toBody: ToErrorBody) => !check(toBody(/^\d+$/.test(status) ? { ...any, status: Number(status) } : any));
  const toOwn: ToErrorBody = hasProblems(schema) ? toErrorBody : ({ problems, ...parts }) => toErrorBody(parts);
  if (document['x-error-body'] !== undefined) return toErrorBody;
  if (fits(toOwn)) return toOwn;
  const filled = toFilled(schema, '', DEEPEST);
  return filled && fits(filled) ? filled : toErrorBody;
}

const hasProblems = (schema: Json): boolean => 'problems' in Object(toFlat(targetOf(schema) ?? schema).properties);

export type ErrorOf = (parts: ErrorParts) => { body: unknown; type: string };

/** For one operation; undefined where its errors are those of all. */
export function buildErrorOf(
  { toErrorBody }: Contract,
  { replies }: Operation,
  toErrorBodyOf: (reply: Reply) => ToErrorBody,
): ErrorOf | undefined {
  const ways = new Map(
    replies.map((reply): [Reply, ToErrorBody] => [
      reply,
      reply.isJson ? toErrorBodyOf(reply) : (parts) => toErrorText(parts, reply),
    ]),
  );
  if ([...ways].every(([{ type }, toBody]) => toBody === toErrorBody && type === PLAIN_JSON)) return undefined;
  return (parts) => {
    const reply = replyFor(replies, parts.status);
    const toBody = (reply && ways.get(reply)) ?? toErrorBody;
    return { body: toBody(parts), type: toContentType(reply?.type ?? PLAIN_JSON) };
  };
}

/** Of a reply that is text: as much as it may have. */
export function toErrorText({ message }: ErrorParts, { type, schema }: Reply): string {
  const text = type === 'text/html' ? message.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`) : message;
  return cut(text, schema.maxLength);
}

/** Lengths of JSON Schema are in characters, not in UTF-16. */
const cut = (text: string, length: number | undefined) => [...text].slice(0, length).join('');

/** What a template for this schema may begin with, for whoever has to write it. */
export function toTemplate(schema: Json): unknown {
  return toFilled(schema, '', DEEPEST, true)?.({ code: '{code}', message: '{message}', status: '{status}' as never });
}

/** Undefined where it is not known what would be true. `name` is that of the field; with `isHalf`, what is not known is `'?'`. */
function toFilled(schema: Json = {}, name: string, depth: number, isHalf = false): ToErrorBody | undefined {
  if (typeof schema !== 'object' || depth === 0) return undefined;
  const { oneOf, anyOf, ...whole } = toFlat(targetOf(schema) ?? schema);
  const alternatives: Json[] = oneOf ?? anyOf ?? [{}];
  for (const alternative of alternatives) {
    const one = toFlat({ allOf: [targetOf(alternative) ?? alternative, whole] });
    const filled = 'const' in one ? () => one.const : toFilledOne(one, name, depth, isHalf);
    if (filled) return filled;
  }
  return undefined;
}

function toFilledOne(schema: Json, name: string, depth: number, isHalf: boolean): ToErrorBody | undefined {
  if (schema.enum?.length === 1) return () => schema.enum[0];
  const { type = Object.keys(schema.properties).length > 0 ? 'object' : 'string' } = schema;
  const types: string[] = [type].flat();
  if (types.includes('object')) return toObject(schema, depth, isHalf);
  if (types.includes('array')) {
    const item = toFilled(schema.items, name, depth - 1, isHalf);
    return item ? (parts) => [item(parts)] : schema.minItems ? undefined : () => [];
  }
  if (types.includes('string') && !schema.enum) {
    const text = toText(schema.format, name);
    if (text) return (parts) => cut(text(parts) as string, schema.maxLength);
  }
  if (types.includes('integer') || types.includes('number')) {
    if (STATUS.test(name)) return ({ status }) => status;
  }
  if (types.includes('boolean')) return () => !DONE.test(name);
  if (types.includes('null')) return () => null;
  return isHalf ? () => '?' : undefined;
}

function toText(format: string | undefined, name: string): ToErrorBody | undefined {
  // RFC 9457, section 4.2.1: such an error says no more than its status.
  if (format?.startsWith('uri')) return () => 'about:blank';
  if (format === 'date-time') return () => new Date().toISOString();
  if (format) return undefined;
  if (name === '' || MESSAGE.test(name)) return ({ message }) => message;
  if (/status/i.test(name)) return ({ status }) => `${status}`;
  return CODE.test(name) ? ({ code }) => code : undefined;
}

/** Its required fields, and others of which it is known what they say. */
function toObject({ properties, required }: Json, depth: number, isHalf: boolean): ToErrorBody | undefined {
  const fields = Object.entries<Json>(properties).flatMap(([name, schema]): [string, ToErrorBody][] => {
    const isRequired = required.includes(name);
    const filled = toFilled(schema, name, depth - 1, isHalf && isRequired) ?? (isRequired ? toAny(schema) : undefined);
    return filled && (isRequired || isTelling(name, schema)) ? [[name, filled]] : [];
  });
  const names = fields.map(([name]) => name);
  if (!required.every((name: string) => names.includes(name))) return undefined;
  return (parts) => Object.fromEntries(fields.map(([name, filled]) => [name, filled(parts)]));
}

/** A text that is free may be the message. */
function toAny({ type, enum: values, format, pattern, maxLength }: Json): ToErrorBody | undefined {
  if (type !== 'string' || values || format || pattern) return undefined;
  return ({ message }) => cut(message, maxLength);
}

/** A link or a time that need not be there is left out. */
const isTelling = (name: string, { format }: Json) =>
  !format && [STATUS, CODE, MESSAGE, DONE, /^errors?$/i].some((known) => known.test(name));
