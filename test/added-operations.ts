/** The service with operations that the contract does not have: what a contract may say, called for real. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { checkOperations } from '../src/contract-first/contract/checks/checked-operations.ts';
import { loadContract } from '../src/contract-first/contract/read/load-contract.ts';
import { ContractError, type ReadContract } from '../src/contract-first/engine/contract/contract.ts';
import { toErrorBody as ownErrorBody } from '../src/contract-first/engine/error-body.ts';
import type { Handlers } from '../src/contract-first/engine/routes/operations.ts';
import { domain } from '../src/generated/domain.ts';
import type { Json } from './any-json.ts';
import { type Edit, edited } from './edited-contract.ts';
import { handlersFor, type Service, type StartOptions, startService } from './service.ts';

/** An operation with what all have: failures, the request's id on each reply, and a 200 whose body may be anything. */
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

/** The contract with these paths, after an edit. */
export function withPaths(paths: Json, edit: Edit = () => {}): string {
  return edited((parts) => {
    Object.assign(parts.paths, paths);
    edit(parts);
  });
}

export const load = (t: Test, yaml: string): Promise<ReadContract> =>
  loadContract(join(t.testdir({ 'petstore.yaml': yaml }), 'petstore.yaml'));

/** What a start says of this contract; empty where it starts. */
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

/** Serves a contract; the handlers are those of its new operations. */
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
