/**
 * Adds operations to the pet store's contract and serves them, so that tests can call features that the contract does
 * not use.
 */
import { join } from 'node:path';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { checkOperations } from '../src/contract-first/contract/checks/checked-operations.ts';
import { loadContract } from '../src/contract-first/contract/read/load-contract.ts';
import { ContractError, type ReadContract } from '../src/contract-first/engine/contract/contract.ts';
import { toErrorBody as ownErrorBody } from '../src/contract-first/engine/errors/error-body.ts';
import type { Handlers } from '../src/contract-first/engine/routes/operations.ts';
import type { ContractProblem } from '../src/contract-first/engine/schema/json.ts';
import { domain } from '../src/generated/domain.ts';
import type { Json } from './any-json.ts';
import { type Edit, edited } from './edited-contract.ts';
import { handlersFor, type Service, type StartOptions, startService } from './service.ts';

/**
 * Makes an operation with the error replies and the X-Request-Id header that all operations need, and a 200 with any
 * JSON body.
 */
export function operation(operationId: string, source: Json = {}): Json {
  const responses = { '200': { content: { 'application/json': { schema: {} } } }, ...FAILURES, ...source.responses };
  for (const [status, response] of Object.entries<Json>(responses)) {
    if (response.$ref) continue;
    responses[status] = { description: 'A reply.', ...response, headers: { ...REQUEST_ID, ...response.headers } };
  }
  return { operationId, ...source, responses };
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
const FAILURES: Json = {
  '400': { $ref: '#/components/responses/InvalidBody' },
  '401': { $ref: '#/components/responses/Unauthorized' },
  default: { $ref: '#/components/responses/Failure' },
};

/** Returns the pet store's contract with these paths added, after an edit. */
export function withPaths(paths: Json, edit: Edit = () => {}): string {
  return edited((parts) => {
    Object.assign(parts.paths, paths);
    edit(parts);
  });
}

export const load = (t: Test, yaml: string): Promise<ReadContract> =>
  loadContract(join(t.testdir({ 'petstore.yaml': yaml }), 'petstore.yaml'));

/** Returns the problems that stop the start of a service with this contract; empty if it would start. */
export async function problemsOf(
  t: Test,
  yaml: string,
  isStrict = false,
  toErrorBody = ownErrorBody,
): Promise<string[]> {
  try {
    checkOperations({ ...(await load(t, yaml)), isStrict }, { toErrorBody, domain });
    return [];
  } catch (error) {
    if (error instanceof ContractError) return error.problems;
    throw error;
  }
}

/** Starts a service for a contract. `handlers` are those of its new operations. */
export async function serve(
  t: Test,
  yaml: string,
  handlers: Record<string, (call: Json) => Json>,
  options: StartOptions = {},
): Promise<Service> {
  const contract = await load(t, yaml);
  return startService(t, {
    contract,
    handlers: { ...handlersFor(contract), ...handlers } as Handlers,
    yaml,
    ...options,
  });
}

/** Makes a contract with 120 operations: list, create and get of forty resources, each with its own schemas. */
export function withManyOperations(): string {
  const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
  const string = { type: 'string' };
  const contract: Json = {
    openapi: '3.1.0',
    info: { title: 'Many', version: '1.0.0' },
    paths: {},
    components: { schemas: {} },
  };
  for (let index = 0; index < 40; index++) {
    const schema = { $ref: `#/components/schemas/Thing${index}` };
    const properties = {
      id: { type: 'integer', format: 'int64' },
      name: { ...string, maxLength: index + 1 },
      tags: { type: 'array', items: string },
    };
    contract.components.schemas[`Thing${index}`] = { type: 'object', required: ['name'], properties };
    const ok = (body: Json) => ({ '200': { description: 'Done', ...json(body) } });
    const limit = { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } };
    const id = { name: 'id', in: 'path', required: true, schema: properties.id };
    contract.paths[`/things-${index}`] = {
      get: { operationId: `list${index}`, parameters: [limit], responses: ok({ type: 'array', items: schema }) },
      post: { operationId: `add${index}`, requestBody: { required: true, ...json(schema) }, responses: ok(schema) },
    };
    contract.paths[`/things-${index}/{id}`] = {
      get: { operationId: `get${index}`, parameters: [id], responses: ok(schema) },
    };
  }
  return stringify(contract);
}

export const wordsOf = (problems: readonly ContractProblem[]): string[] => problems.map(({ words }) => words);
