/** The wiring: each operation of the contract, with its handler, becomes a route by way of fastify-openapi-glue. */
import type { FastifyInstance, FastifyReply, onRequestHookHandler, RouteOptions } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { type Contract, ContractError, type Operation } from '../contract/contract.ts';
import { refuse } from '../http/errors.ts';
import { JsonText } from '../json/json-text.ts';
import type { Store } from '../store/store.ts';
import { type CompiledOperation, compileOperations } from './compiled-operations.ts';
import { announceDeprecation } from './deprecation.ts';
import type { AnyAnswer, AnyHandler } from './handler.ts';
import type { Texts } from './parameter-values.ts';
import { describeUnmatched } from './unmatched.ts';
import { buildUrlOf } from './urls.ts';

/** By operationId; the compiler checks `src/generated/handlers.ts` against the contract. */
export type Handlers = Readonly<Record<string, AnyHandler>>;

const JSON_TYPE = 'application/json; charset=utf-8';

export interface OperationsOptions {
  contract: Contract;
  handlers: Handlers;
  store: Store;
  /** The hook that checks the key on operations that need one. */
  auth: onRequestHookHandler;
}

/** @throws ContractError that names every operation without a handler and every handler without an operation */
export async function addOperations(
  app: FastifyInstance,
  { contract, handlers, store, auth }: OperationsOptions,
): Promise<void> {
  const problems = describeUnmatched([...contract.operations.keys()], Object.keys(handlers));
  if (problems.length > 0) throw new ContractError(problems);
  const compiled = compileOperations(contract);
  const urlOf = buildUrlOf(contract);

  function toRoute(operation: Operation): Partial<RouteOptions> {
    const handler = handlers[operation.id] as AnyHandler;
    const { check, serializerCompiler } = compiled.get(operation.id) as CompiledOperation;
    return {
      onRequest: operation.secured ? [auth] : [],
      onSend: announceDeprecation(operation, contract),
      ...(operation.body?.maxBytes && { bodyLimit: operation.body.maxBytes }),
      // Parameters and body are checked below, together, so that one reply names all that is wrong.
      validatorCompiler: () => () => true,
      ...(serializerCompiler && { serializerCompiler }),
      handler: (request, reply) => {
        const checked = check(request.params as Texts, request.query as Texts, request.body);
        if ('problems' in checked) return send(reply, refuse('invalid_request', checked.problems.join('; ')));
        const call = { params: checked.path, query: checked.query, body: checked.body, store, urlOf };
        return Promise.resolve(handler(call)).then((answer) => send(reply, answer));
      },
    };
  }

  await app.register(openapiGlue, {
    specification: contract.resolved,
    prefix: contract.prefix,
    operationResolver: (id) => toRoute(contract.operations.get(id) as Operation) as RouteOptions,
  });
}

/** Returns nothing: the reply is a thenable, so a promise of it would wait until it is sent. */
function send(reply: FastifyReply, { status, body, headers }: AnyAnswer): void {
  reply.code(status);
  if (headers) reply.headers(headers);
  if (body instanceof JsonText) reply.type(JSON_TYPE).send(body.text);
  // Fastify would send a string as text/plain, without quotes.
  else if (typeof body === 'string') reply.type(JSON_TYPE).send(JSON.stringify(body));
  else reply.send(body);
}
