/** The wiring: each operation of the contract, with its handler, becomes a route by way of fastify-openapi-glue. */
import { readdirSync } from 'node:fs';
import { parse } from 'node:path';
import type { FastifyInstance, FastifyReply, onRequestHookHandler, RouteOptions } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { type Contract, ContractError, type Operation } from '../contract/contract.ts';
import { refuse } from '../http/errors.ts';
import { JsonText } from '../json/json-text.ts';
import type { Store } from '../store/store.ts';
import { buildChecks, type Check, type RequestParts } from './checks.ts';
import { announceDeprecation } from './deprecation.ts';
import type { Answer, Call, Handler, OperationId } from './handler.ts';
import { buildUrlOf } from './urls.ts';

type AnyHandler = Handler<OperationId>;
export type Handlers = Map<string, AnyHandler>;

const HANDLERS = new URL('../../handlers/', import.meta.url);
const JSON_TYPE = 'application/json; charset=utf-8';

/** The default export of every file in `handlers/`, by the file's name. */
export async function loadHandlers(directory = HANDLERS): Promise<Handlers> {
  const files = readdirSync(directory).filter((name) => /\.[jt]s$/.test(name));
  const entries = files.map(async (file): Promise<[string, AnyHandler]> => {
    const { default: handler } = await import(new URL(file, directory).href);
    return [parse(file).name, handler];
  });
  return new Map(await Promise.all(entries));
}

export interface OperationsOptions {
  contract: Contract;
  handlers: Handlers;
  store: Store;
  /** The hook that guards the operations which the contract secures. */
  auth: onRequestHookHandler;
}

/** @throws ContractError that names every operation without a handler and every handler without an operation */
export async function addOperations(
  app: FastifyInstance,
  { contract, handlers, store, auth }: OperationsOptions,
): Promise<void> {
  checkHandlers(contract, handlers);
  const checks = buildChecks(contract);
  const urlOf = buildUrlOf(contract);

  function toRoute(operation: Operation): Partial<RouteOptions> {
    const handler = handlers.get(operation.id) as AnyHandler;
    const check = checks.get(operation.id) as Check;
    return {
      onRequest: operation.secured ? [auth] : [],
      onSend: announceDeprecation(operation, contract),
      ...(operation.body?.maxBytes && { bodyLimit: operation.body.maxBytes }),
      // Parameters and body are checked below, together, so that one reply names all that is wrong.
      validatorCompiler: () => () => true,
      handler: (request, reply) => {
        const parts = { path: request.params, query: request.query, body: request.body } as RequestParts;
        const problems = check(parts);
        if (problems.length > 0) return send(reply, refuse('invalid_request', problems.join('; ')));
        const call = { params: parts.path, query: parts.query, body: parts.body, store, urlOf };
        return Promise.resolve(handler(call as unknown as Call<OperationId>)).then((answer) => send(reply, answer));
      },
    };
  }

  await app.register(openapiGlue, {
    specification: contract.document,
    prefix: contract.prefix,
    operationResolver: (id) => toRoute(contract.operations.get(id) as Operation) as RouteOptions,
  });
}

function checkHandlers({ operations }: Contract, handlers: Handlers): void {
  const problems: string[] = [];
  for (const id of operations.keys()) {
    if (!handlers.has(id)) problems.push(`operation ${id} has no handlers/${id}.ts`);
  }
  for (const [id, handler] of handlers) {
    if (!operations.has(id)) problems.push(`handlers/${id}.ts has no operation ${id} in the contract`);
    if (typeof handler !== 'function') problems.push(`handlers/${id}.ts has no function as its default export`);
  }
  if (problems.length > 0) throw new ContractError(problems);
}

/** Sends the answer. Returns nothing: a promise that resolves to the reply, itself a thenable, would wait for its end. */
function send(reply: FastifyReply, { status, body, headers }: Answer<OperationId> & { headers?: object }): void {
  reply.code(status);
  if (headers) reply.headers(headers as Record<string, string>);
  if (body instanceof JsonText) reply.type(JSON_TYPE).send(body.text);
  // Fastify would take a string for text that is written already, and send it as text/plain.
  else if (typeof body === 'string') reply.type(JSON_TYPE).send(JSON.stringify(body));
  else reply.send(body);
}
