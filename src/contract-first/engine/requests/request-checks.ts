/**
 * Checks requests against the contract, with JSON Schema 2020-12 as used by OpenAPI 3.1. The types of values in bodies
 * are not coerced, each number in a parameter has only one valid spelling, and unknown parameters are answered with
 * 400. A single error lists all problems of a request.
 */
import { hash } from 'node:crypto';
import { stringify } from 'lossless-json';
import { toPointerOf } from '../../json/pointer.ts';
import type { Operation, Parameter } from '../contract/contract.ts';
import { toMediaType } from '../contract/replies.ts';
import { firstProblems, type Problem } from '../errors/problem.ts';
import { buildToBigints } from '../schema/bigints.ts';
import type { BuildCheck } from '../schema/checks.ts';
import { int64sOf } from '../schema/int64-map.ts';
import { type Keywords, keywordsOf, type ReportProblem, reportIn, type Schema } from '../schema/json.ts';
import { isRecursion, mapSubschemas } from '../schema/subschemas.ts';
import type { Bytes } from './form-fields.ts';
import { buildToParts, type ToParts } from './form-parts.ts';
import { buildToHeaders, buildToValues, type Raw, type Texts, type Values } from './parameter-values.ts';
import type { BuildIsValid } from './text-coercion.ts';

/** A request that fits the contract, with typed parameters and body, and with defaults filled in. */
export interface Accepted {
  path: Values;
  query: Values;
  /** The header parameters, by their names as the contract spells them. */
  header: Values;
  body: unknown;
  /**
   * The digest of the parameters and the body before defaults were filled in. Undefined for a request without an
   * `Idempotency-Key`.
   */
  digest?: string;
}

export interface RequestProblems {
  problems: Problem[];
}

/** The properties of Fastify's request that are checked. */
interface SentRequest {
  params: unknown;
  query: unknown;
  body: unknown;
  headers: { 'content-type'?: string | undefined };
  raw: Raw;
}

/**
 * Checks a request. Leaves the parameters in `sent` unchanged. The body is changed in place, and becomes part of the
 * result: its 64-bit integers become bigint, and missing fields get their defaults.
 */
export type CheckRequest = (sent: SentRequest) => Accepted | RequestProblems;

/** The header parameters of operations that declare none. */
const NO_HEADERS: Values = Object.freeze({});

export function buildCheckRequest(buildCheck: BuildCheck, operation: Operation, report: ReportProblem): CheckRequest {
  const { body } = operation;
  const { required = false, contents = [] } = body ?? {};
  const [check, ...others] = contents.map((content) => {
    const { type, kind, schema } = content;
    // The body of a PATCH gets no defaults: a field that the client omits must keep its stored value.
    const own = operation.method === 'PATCH' ? withoutDefaults(schema) : schema;
    const at = toPointerOf('requestBody', 'content', type, 'schema');
    if (kind === 'json') return buildOne(buildCheck, operation, { required, schema: own, at }, report);
    const checkRest = buildOne(buildCheck, operation, { required, schema: true, at }, report);
    return kind === 'bytes' ? checkRest : withParts(checkRest, buildToParts(buildCheck, content, reportIn(report, at)));
  });
  if (!check) return buildOne(buildCheck, operation, undefined, report);
  if (others.length === 0) return check;
  const byType = new Map([check, ...others].map((made, index) => [contents[index]?.type, made]));
  return (sent) => (byType.get(toMediaType(sent.headers['content-type'] ?? '')) ?? check)(sent);
}

function withoutDefaults(schema: Schema): Schema {
  if (typeof schema === 'boolean' || isRecursion(schema)) return schema;
  const { default: _default, ...others } = mapSubschemas(schema, withoutDefaults);
  return others;
}

/**
 * Replaces the body of a checked request by the parts of the form, which are checked while the handler reads the form.
 */
function withParts(check: CheckRequest, toParts: ToParts): CheckRequest {
  return (sent) => {
    const checked = check(sent);
    if ('problems' in checked || checked.body === undefined) return checked;
    return { ...checked, body: toParts(checked.body as Bytes, sent.headers['content-type'] as string) };
  };
}

/**
 * Styles of parameters with an object or JSON as the value. Numbers in such JSON, and defaults of such fields, may have
 * the wrong JavaScript type, and must be converted.
 */
const WITHIN = ['json', 'deep', 'fields'];

interface OneBody {
  required: boolean;
  schema: Schema;
  /** The JSON Pointer from the operation to the schema. */
  at: string;
}

function buildOne(
  buildCheck: BuildCheck,
  operation: Operation,
  body: OneBody | undefined,
  report: ReportProblem,
): CheckRequest {
  const { parameters } = operation;
  const parametersIn = (location: Parameter['in']) => parameters.filter((parameter) => parameter.in === location);
  const [inPath, inQuery, inHeader] = [parametersIn('path'), parametersIn('query'), parametersIn('header')];
  const schema = toRequestSchema({ inPath, inQuery, inHeader }, body);
  const int64s = int64sOf(schema);
  const reportPart: ReportProblem = (words, pointer = '') =>
    report(
      words,
      pointer.replace(/^\/body/, () => (body as OneBody).at).replace(/^\/(path|query|header)(?=\/)/, '/parameters'),
    );
  const check = buildCheck(schema, { name: 'request', fillsDefaults: true, int64s }, reportPart);
  const buildIsValid: BuildIsValid = (schema) => {
    const problemsOf = buildCheck(schema, { name: 'request' }, report);
    return (value) => problemsOf(value) === undefined;
  };
  const toPath = buildToValues(operation, 'path', buildIsValid);
  const toQuery = buildToValues(operation, 'query', buildIsValid);
  const toHeaders = inHeader.length > 0 ? buildToHeaders(inHeader, buildIsValid) : undefined;
  const toBody = buildToBigints(int64s.fields.get('body'));
  const numbers = findNumbers(parameters);
  const key = parameters.find(({ keptHours }) => keptHours !== undefined)?.name;

  return ({ params, query, body, headers, raw }) => {
    const problems: Problem[] = [];
    const request: Accepted = {
      path: toPath(params as Texts, problems, raw),
      query: toQuery(query as Texts, problems, raw),
      header: toHeaders ? toHeaders(headers, raw, problems) : NO_HEADERS,
      body,
    };
    // The digest is made before the check fills in defaults. So a retry leads to the same digest even if a new contract
    // declares other defaults.
    if (key !== undefined && key in request.header)
      request.digest = toDigest([request.path, request.query, request.body]);
    const found = check(request);
    if (found || problems.length > 0) return { problems: firstProblems([...problems, ...(found ?? [])]) };
    for (const { name, place: location, convert } of numbers) {
      if (name in request[location]) request[location][name] = convert(request[location][name]);
    }
    if (toBody) request.body = toBody(request.body);
    return request;
  };
}

/**
 * Finds the parameters with numbers that may be of the wrong JavaScript type: parameters with defaults, objects and
 * JSON. Numbers in other parameters were already converted from text.
 */
function findNumbers(parameters: Parameter[]) {
  return parameters.flatMap(({ name, in: location, schema, int64s, writing }) => {
    const { default: own } = keywordsOf(schema);
    const isDefault = own !== undefined && (int64s.isInt64 || typeof own !== 'number');
    const convert = (isDefault || WITHIN.includes(writing)) && buildToBigints(int64s);
    return convert ? [{ name, place: location, convert }] : [];
  });
}

/**
 * Combines the schemas of a request's parameters and body into one schema, so that a single check finds all problems of
 * the request.
 */
function toRequestSchema(
  { inPath, inQuery, inHeader }: Record<'inPath' | 'inQuery' | 'inHeader', Parameter[]>,
  body: OneBody | undefined,
): Schema {
  const ofParameters = {
    path: toObjectSchema(inPath),
    query: toObjectSchema(inQuery),
    ...(inHeader.length > 0 && { header: toObjectSchema(inHeader) }),
  };
  return {
    type: 'object',
    properties: { ...ofParameters, ...(body && { body: body.schema }) },
    required: [...Object.keys(ofParameters), ...(body?.required ? ['body'] : [])],
  };
}

function toObjectSchema(parameters: Parameter[]): Keywords {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/**
 * Makes a digest of parsed values. The digest does not depend on the order of fields, nor on whether an integer is a
 * number or a bigint. A body that is streamed to the handler is not included.
 */
const toDigest = (values: unknown[]): string => hash('sha256', stringify(values, sortFields) as string, 'base64url');

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
