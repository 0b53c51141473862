/**
 * Requests against the contract: JSON Schema 2020-12 as OpenAPI 3.1 has it, nothing coerced in bodies, one spelling for
 * numbers in parameters, nothing unknown let through. All problems of a request are told in one message.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Contract, Operation, Parameter } from '../contract/contract.ts';
import { toConvert } from './parameter-values.ts';
import { toProblem } from './problems.ts';
import { buildAjv, prepare } from './schemas.ts';

/** The parts of a request that the contract speaks of. Parameters come as text, and leave with their types. */
export interface RequestParts {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}

/** What is wrong with a request, each problem with its place (`body.name …`); empty when nothing is. */
export type Check = (parts: RequestParts) => string[];

/** A check for each operation, by its id. */
export function buildChecks(contract: Contract): Map<string, Check> {
  const ajv = buildAjv(contract.document);
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
    if (!validate(parts)) problems.push(...new Set(validate.errors?.map(toProblem)));
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
