/**
 * The way of a request through its operation, from top to bottom: what is here is done for each request. All else is decided at
 * the start. What comes before, for every request, is in `http/every-request.ts`.
 */
import type { FastifyContextConfig, FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import type { Operation, Requirement } from '../contract/contract.ts';
import { HttpError, NO_ROUTE, refuse } from '../errors.ts';
import { toTold } from '../problem.ts';
import type { FailureForm } from '../replies/failure-form.ts';
import { type AnyAnswer, buildSend } from '../replies/sending.ts';
import { buildIsGone } from '../replies/sunset.ts';
import type { CompiledOperation } from './compiled-operations.ts';
import { type Context, type ContextParts, withGiven } from './context.ts';
import type { AnyHandler } from './handler.ts';

/** Lets requests pass that have one of these ways in. */
export type AuthFor = (security: Requirement[], over: RefuseOver, isKeyOptional: boolean) => onRequestHookHandler;

/** Answers a request that is beyond a limit, with these headers. */
type RefuseOver = (request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>) => void;

export interface RouteParts extends Omit<ContextParts, 'operation' | 'idempotencyKey'> {
  /** What handlers are given beside the request: what the domain keeps, by name, and the services. */
  given: object;
  handler: AnyHandler;
  compiled: CompiledOperation;
  /** Their headers are on every reply of a deprecated operation; there are none for any other. */
  failures: FailureForm;
  /** Makes the hook that checks the key on operations that need one. */
  authFor: AuthFor;
  /** The contract's `x-fastify-config`. */
  config: FastifyContextConfig | undefined;
  /** Refuses bodies of a type that only other operations take. */
  onlyOwnTypes: onRequestHookHandler[];
}

/** Fastify's own checks and writers of the route's schema: ours do their work, see README.md. */
const NOT_BY_FASTIFY = { validatorCompiler: () => () => true, serializerCompiler: () => JSON.stringify };

export function toRoute(operation: Operation, parts: RouteParts): Partial<RouteOptions> {
  const { compiled, failures, authFor, onlyOwnTypes } = parts;
  const { headers: deprecation } = failures;
  const send = buildSend(operation, { ...parts, ...compiled, successor: deprecation.link });
  const isOnce = operation.parameters.some(({ keptHours }) => keptHours !== undefined);
  const answer = buildAnswer(operation, parts);
  const over = refuse('rate_limited', 'Too many requests. Try again after as many seconds as Retry-After says.');
  /** As cheaply as an answer: a flood must not cost more. */
  const refuseOver: RefuseOver = (_request, reply, headers) => {
    send(reply, { ...over, headers });
  };
  const { security, isKeyOptional } = operation;
  const auth = security.length > 0 ? authFor(security, refuseOver, isKeyOptional) : undefined;

  return {
    ...NOT_BY_FASTIFY,
    config: { ...parts.config, failures },
    onRequest: [buildEnter(operation, auth, deprecation), ...onlyOwnTypes],
    ...(operation.body?.maxBytes && { bodyLimit: operation.body.maxBytes }),
    handler: serve,
  };

  function serve(request: FastifyRequest, reply: FastifyReply) {
    const answered = answer(request);
    if (!(answered instanceof Promise)) return respond(reply, answered);
    return answered.then(
      (later) => (reply.sent ? undefined : respond(reply, later)),
      // Nobody waits for a reply any more, where the client has gone: what its body did to the handler is no error.
      (error) => (reply.sent ? undefined : Promise.reject(error)),
    );
  }

  function respond(reply: FastifyReply, answered: AnyAnswer) {
    reply.request.isAnswered = true;
    if (isOnce) reply.request.isReplayed = 'Idempotency-Replayed' in (answered.headers ?? {});
    return send(reply, answered);
  }
}

/** Notes the operation for the log, and checks the key where one is needed: in one hook, because each costs. */
function buildEnter(
  { id, path }: Operation,
  auth: onRequestHookHandler | undefined,
  deprecation: Record<string, string>,
) {
  const hasParams = path.includes('{');
  const announced = Object.keys(deprecation).length > 0 ? deprecation : undefined;
  const enter: onRequestHookHandler = function (request, reply, done) {
    // The router takes `/items/` for `/items/{itemId}`.
    if (hasParams && Object.values(request.params as object).includes('')) {
      done(new HttpError(...NO_ROUTE));
      return;
    }
    request.operationId = id;
    if (announced) reply.headers(announced);
    if (auth) auth.call(this, request, reply, done);
    else done();
  };
  return enter;
}

/** What the handler answers to a request that the contract allows, while the operation is served. */
function buildAnswer(operation: Operation, parts: RouteParts) {
  const { handler, compiled } = parts;
  const idempotencyKey = operation.parameters.find(({ keptHours }) => keptHours !== undefined);
  const OwnContext: typeof Context = withGiven(parts.given);
  const contextParts: ContextParts = { ...parts, operation: operation.id, idempotencyKey };
  const { sunset } = operation.deprecation ?? {};
  const isGone = buildIsGone(sunset);

  function answer(request: FastifyRequest): AnyAnswer | Promise<AnyAnswer> {
    const checked = compiled.check(request);
    if ('problems' in checked) return refuse('invalid_request', ...toTold(checked.problems));
    return handler(new OwnContext(checked, request, contextParts));
  }

  /** Whoever still calls it can be told before it is removed. */
  function answerDeprecated(request: FastifyRequest): AnyAnswer | Promise<AnyAnswer> {
    request.caller?.use.countDeprecated(operation.id);
    return isGone() ? refuse('gone', `This operation was served until ${sunset?.toUTCString()}.`) : answer(request);
  }

  return operation.deprecation ? answerDeprecated : answer;
}
