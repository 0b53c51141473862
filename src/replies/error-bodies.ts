/**
 * The server's own errors in a contract that has others: its schema is filled by the names and types of its fields, such as those of
 * RFC 9457. That each filled body fits the schema is checked with all that the server sends.
 */
import type { Contract, Operation, Reply } from '../contract/contract.ts';
import type { ErrorParts, ToErrorBody } from '../contract/error-body.ts';
import { replyFor } from '../contract/replies.ts';
import { Failure } from '../http/errors.ts';
import type { Check } from '../schema/checks.ts';
import type { Json } from '../schema/json.ts';
import { targetOf } from '../schema/recursion.ts';
import type { CompileReply } from './compiled-reply.ts';

const STATUS = /^(http)?_?(status|code|status_?code|error_?code)$/i;
const CODE = /^(error_?)?(code|type|id|key|name|slug|kind|title)$|^error$/i;
const MESSAGE = /message|detail|description|text|reason|summary|msg/i;
const DONE = /^(success|succeeded|ok)$/i;

/** How deep the objects of an error are at most. */
const DEEPEST = 4;

/** How an error is written in this reply: as the contract says for all, or as the schema of the reply has it. */
export function buildToBody(reply: Reply, contract: Contract, check: Check): ToErrorBody {
  const { toErrorBody, document } = contract;
  if (document['x-error-body'] !== undefined || !reply.isJson) return toErrorBody;
  const fits = (toBody: ToErrorBody) => !check(toBody(new Failure('internal_error', 'x').body));
  if (fits(toErrorBody)) return toErrorBody;
  const filled = toFilled(reply.schema, '', DEEPEST);
  return filled && fits(filled) ? filled : toErrorBody;
}

export type ErrorOf = (parts: ErrorParts) => { body: unknown; type: string };

/** For one operation, whose replies were compiled before; undefined where its errors are those of all. */
export function buildErrorOf(
  contract: Contract,
  { replies }: Operation,
  compileReply: CompileReply,
): ErrorOf | undefined {
  const ways = new Map(
    replies.map((reply) => [
      reply,
      reply.isJson
        ? buildToBody(reply, contract, compileReply(reply, () => {}).check)
        : (parts: ErrorParts) => toErrorText(parts, reply.type),
    ]),
  );
  const isOwn = [...ways].some(([{ type }, toBody]) => toBody !== contract.toErrorBody || type !== 'application/json');
  if (!isOwn) return undefined;
  return (parts) => {
    const reply = replyFor(replies, parts.status) as Reply;
    const toBody = ways.get(reply);
    return toBody
      ? { body: toBody(parts), type: reply.type }
      : { body: contract.toErrorBody(parts), type: 'application/json' };
  };
}

/** Of a reply that is text. */
export function toErrorText({ message }: ErrorParts, type: string): string {
  return type.startsWith('text/html') ? message.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`) : message;
}

/** What a template for this schema may begin with, for whoever has to write it. */
export function toTemplate(schema: Json): unknown {
  return toFilled(schema, '', DEEPEST, true)?.({ code: '{code}', message: '{message}', status: '{status}' as never });
}

/** Undefined where it is not known what would be true. `name` is that of the field; with `isHalf`, what is not known is `'?'`. */
function toFilled(schema: Json = {}, name: string, depth: number, isHalf = false): ToErrorBody | undefined {
  if (typeof schema !== 'object' || depth === 0) return undefined;
  const { oneOf, anyOf, ...whole } = merge(schema);
  const alternatives: Json[] = oneOf ?? anyOf ?? [{}];
  for (const alternative of alternatives) {
    const one = merge({ allOf: [whole, alternative] });
    const filled = 'const' in one ? () => one.const : toFilledOne(one, name, depth, isHalf);
    if (filled) return filled;
  }
  return undefined;
}

/** With what all of its parts say. */
function merge(schema: Json): Json {
  const { allOf = [], ...own } = targetOf(schema) ?? schema;
  const parts: Json[] = [...allOf.map(merge), own];
  const properties = Object.assign({}, ...parts.map((part) => part.properties));
  return { ...Object.assign({}, ...parts), properties, required: parts.flatMap(({ required = [] }) => required) };
}

function toFilledOne(schema: Json, name: string, depth: number, isHalf: boolean): ToErrorBody | undefined {
  const { type = Object.keys(schema.properties).length > 0 ? 'object' : 'string' } = schema;
  const types: string[] = [type].flat();
  if (types.includes('object')) return toObject(schema, depth, isHalf);
  if (types.includes('array')) {
    const item = toFilled(schema.items, name, depth - 1, isHalf);
    return item ? (parts) => [item(parts)] : schema.minItems ? undefined : () => [];
  }
  if (types.includes('string') && !schema.enum) {
    const text = toText(schema.format, name);
    if (text) return text;
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
const toAny = ({ type, enum: values, format, pattern }: Json): ToErrorBody | undefined =>
  type === 'string' && !values && !format && !pattern ? ({ message }) => message : undefined;

/** A link or a time that need not be there is left out. */
const isTelling = (name: string, { format }: Json) =>
  !format && [STATUS, CODE, MESSAGE, DONE, /^errors?$/i].some((known) => known.test(name));
