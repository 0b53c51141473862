/**
 * Requests against the contract: JSON Schema 2020-12 as OpenAPI 3.1 has it, nothing coerced in bodies, one spelling for
 * numbers in parameters, nothing unknown let through. All problems of a request are told in one message.
 */
import { Ajv2020, type ErrorObject, type KeywordDefinition } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Contract, Json, Operation, Parameter } from '../contract/contract.ts';
import { INT64_RANGE, isInt64Schema, parseInt64, toInt64 } from '../json/int64.ts';

/** The parts of a request that the contract speaks of. Parameters come as text, and leave with their types. */
export interface RequestParts {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}

/** What is wrong with a request, each problem with its place (`body.name …`); empty when nothing is. */
export type Check = (parts: RequestParts) => string[];

type Convert = (text: string) => unknown;

/** Replaces `type` and `format` of a 64-bit integer: takes an exact number, leaves a bigint, and keeps the bounds. */
const int64: KeywordDefinition = {
  keyword: 'int64',
  modifying: true,
  errors: true,
  compile: (bounds: Record<string, number>) => {
    const rules = Object.entries(bounds).map(
      ([keyword, limit]) => ({ ...BOUNDS[keyword], limit: BigInt(limit) }) as Rule,
    );
    return function validate(data, context) {
      const value = toInt64(data);
      if (value === undefined) return fail(validate, `must be ${INT64_RANGE}`);
      const broken = rules.find(({ holds, limit }) => !holds(value, limit));
      if (broken) return fail(validate, `must be ${broken.words} ${broken.limit}`);
      if (context) context.parentData[context.parentDataProperty] = value;
      return true;
    };
  },
};

interface Rule {
  words: string;
  holds: (value: bigint, limit: bigint) => boolean;
  limit: bigint;
}

const BOUNDS: Record<string, Omit<Rule, 'limit'>> = {
  minimum: { words: 'at least', holds: (value, limit) => value >= limit },
  maximum: { words: 'at most', holds: (value, limit) => value <= limit },
  exclusiveMinimum: { words: 'more than', holds: (value, limit) => value > limit },
  exclusiveMaximum: { words: 'less than', holds: (value, limit) => value < limit },
};

/** Words of OpenAPI's schemas that say nothing about validity (OpenAPI 3.1, section 4.8.24). */
const OPENAPI_ANNOTATIONS = ['discriminator', 'example', 'externalDocs', 'xml'];

function fail(validate: object, message: string): false {
  Object.assign(validate, { errors: [{ keyword: 'int64', message, params: {} }] });
  return false;
}

/**
 * The schema with every 64-bit integer put into the hands of the keyword `int64`, and without the defaults of what is
 * required: they would fill in what must be refused.
 */
function prepare(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(prepare);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (isInt64Schema(schema)) {
    const bounds = Object.keys(BOUNDS).filter((keyword) => keyword in schema);
    const int64 = Object.fromEntries(bounds.map((keyword) => [keyword, schema[keyword]]));
    return 'default' in schema ? { int64, default: schema.default } : { int64 };
  }
  const prepared = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, prepare(value)]));
  const required: string[] = Array.isArray(schema.required) ? schema.required : [];
  for (const name of required) delete prepared.properties?.[name]?.default;
  return prepared;
}

function buildAjv({ document }: Contract): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, useDefaults: true });
  addFormats.default(ajv);
  ajv.addKeyword(int64);
  const extensions = JSON.stringify(document).match(/(?<=")x-[\w-]+(?=":)/g) ?? [];
  ajv.addVocabulary([...OPENAPI_ANNOTATIONS, ...new Set(extensions)]);
  return ajv;
}

/** A check for each operation, by its id. */
export function buildChecks(contract: Contract): Map<string, Check> {
  const ajv = buildAjv(contract);
  return new Map([...contract.operations.values()].map((operation) => [operation.id, buildCheck(ajv, operation)]));
}

function buildCheck(ajv: Ajv2020, { parameters, body }: Operation): Check {
  const validate = ajv.compile({
    type: 'object',
    properties: {
      path: toObjectSchema(parameters, 'path'),
      query: toObjectSchema(parameters, 'query'),
      ...(body && { body: prepare(body.schema) }),
    },
    required: ['path', 'query', ...(body?.required ? ['body'] : [])],
  });
  const ours = parameters.map(({ name, in: place, schema }) => ({ name, place, convert: toConvert(schema) }));
  return (parts) => {
    const problems: string[] = [];
    for (const { name, place, convert } of ours) {
      const given = parts[place][name];
      if (Array.isArray(given)) problems.push(`${place}.${name} is given more than once`);
      const text = Array.isArray(given) ? given[0] : given;
      if (text !== undefined) parts[place][name] = convert(text);
    }
    if (!validate(parts)) problems.push(...new Set(validate.errors?.map(describeError)));
    return problems;
  };
}

function toObjectSchema(parameters: Parameter[], place: Parameter['in']): object {
  const ours = parameters.filter((parameter) => parameter.in === place);
  return prepare({
    type: 'object',
    properties: Object.fromEntries(ours.map(({ name, schema }) => [name, schema])),
    required: ours.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  });
}

/** From the text of a parameter to the value that its schema speaks of; text that is none stays text, and is refused. */
function toConvert(schema: Json): Convert {
  if (isInt64Schema(schema)) return (text) => parseInt64(text) ?? text;
  if (schema.type === 'integer') return (text) => safeNumber(parseInt64(text)) ?? text;
  if (schema.type === 'number') return (text) => (/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text) ? Number(text) : text);
  if (schema.type === 'boolean') return (text) => text === 'true' || (text === 'false' ? false : text);
  return (text) => text;
}

function safeNumber(value: bigint | undefined): number | undefined {
  return Number.isSafeInteger(Number(value ?? Number.NaN)) ? Number(value) : undefined;
}

function describeError({ instancePath, keyword, params, message }: ErrorObject): string {
  const place = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const inside = (name: string) => (place ? `${place}.${name}` : name);
  const noun = place === 'query' ? 'query parameter' : 'field';
  switch (keyword) {
    case 'required':
      return `${inside(params.missingProperty)} is missing`;
    case 'additionalProperties':
      return `${inside(params.additionalProperty)} is not a known ${noun}`;
    case 'unevaluatedProperties':
      return `${inside(params.unevaluatedProperty)} is not a known ${noun}`;
    case 'enum':
      return `${place} must be one of ${params.allowedValues.join(', ')}`;
    case 'type':
      return `${place} must be of type ${params.type}`;
    case 'minLength':
      return `${place} must have at least ${params.limit} characters`;
    case 'maxLength':
      return `${place} must have at most ${params.limit} characters`;
    case 'pattern':
      return `${place} must match ${params.pattern}`;
    case 'minimum':
      return `${place} must be at least ${params.limit}`;
    case 'maximum':
      return `${place} must be at most ${params.limit}`;
    default:
      return `${place} ${message}`;
  }
}
