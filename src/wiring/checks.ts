/**
 * Requests against the contract: JSON Schema 2020-12 as OpenAPI 3.1 has it, nothing coerced in bodies, one spelling for
 * numbers in parameters, unknown names refused. One message names all problems of a request.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Operation, Parameter, Refuse } from '../contract/contract.ts';
import { findInt64s } from '../contract/int64-places.ts';
import { toInt64 } from '../json/int64.ts';
import { buildToBigints } from './bigints.ts';
import { compile } from './compilation.ts';
import { buildToValues, type Texts, type Values } from './parameter-values.ts';
import { toProblem } from './problems.ts';
import { prepare } from './schemas.ts';

/** A request that the contract allows, with the types that it gives to parameters and body, and defaults filled in. */
export interface Accepted {
  path: Values;
  query: Values;
  body: unknown;
}

/** What is wrong with a request, each problem with its place: `body.name is missing`. */
export interface Refused {
  problems: string[];
}

/** Parameters come as text and stay as they are. The body becomes part of the result: bigints and defaults are put into it. */
export type Check = (path: Texts, query: Texts, body: unknown) => Accepted | Refused;

export function buildCheck(ajv: Ajv2020, { parameters, body }: Operation, refuse: Refuse): Check {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const schema = {
    type: 'object',
    properties: { path: toObjectSchema(inPath), query: toObjectSchema(inQuery), ...(body && { body: body.schema }) },
    required: ['path', 'query', ...(body?.required ? ['body'] : [])],
  };
  const int64s = findInt64s(schema, '', () => {});
  const validate = compile(ajv, prepare(schema, int64s), 'request', refuse);
  const toPath = buildToValues(inPath);
  const toQuery = buildToValues(inQuery);
  const toBody = buildToBigints(int64s.fields.get('body'));
  // A sent value is a bigint already, but a default is a number.
  const defaulted = inQuery.filter((parameter) => parameter.int64s.isInt64 && 'default' in parameter.schema);

  return (path, query, body) => {
    const repeated: string[] = [];
    const request: Accepted = { path: toPath(path, repeated), query: toQuery(query, repeated), body };
    if (!validate(request) || repeated.length > 0) {
      const problems = repeated.map((name) => `query.${name} is given more than once`);
      return { problems: [...problems, ...new Set(validate.errors?.map(toProblem))] };
    }
    for (const { name } of defaulted) request.query[name] = toInt64(request.query[name]);
    if (toBody) request.body = toBody(request.body);
    return request;
  };
}

function toObjectSchema(parameters: Parameter[]): object {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}
