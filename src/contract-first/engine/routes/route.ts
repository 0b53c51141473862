/**
 * The way of a request through its operation, from top to bottom. Everything that can be is decided at the start.
 * Hooks that run before, for every request, are in `http/every-request.ts`.
 */
import type {
  FastifyContextConfig,
  FastifyReply,
  FastifyRequest,
  FastifySchemaCompiler,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify';
import type { Operation, Requirement } from '../contract/contract.ts';
import { HttpError, NO_ROUTE, refuse } from '../errors.ts';
import { toTold } from '../problem.ts';
import type { FailureForm } from '../replies/failure-form.ts';
import { type AnyAnswer, buildSend } from '../replies/sending.ts';
import { buildSunset } from '../replies/sunset.ts';
import type { CompiledOperation } from './compiled-operations.ts';
import { type Context, type ContextParts, withGiven } from './context.ts';
import type { AnyHandler } from './handler.ts';

/** Makes the hook that lets requests pass which meet one of these security requirements. */
export type AuthFor = (security: Requirement[], over: RefuseOver, isKeyOptional: boolean) => onRequestHookHandler;

/** Answers a request that is over its rate limit, with these headers. */
type RefuseOver = (request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>) => void;

export interface RouteParts extends Omit<ContextParts, 'operation' | 'idempotencyKey'> {
  /** The arguments of handlers beside the request: the collections, by name, and the services. */
  given: object;
  handler: AnyHandler;
  compiled: CompiledOperation;
  /** How failures are answered. Its headers are those of deprecated operations; other operations have none. */
  failures: FailureForm;
  /** Makes the hook that checks the key on operations that need one. */
  authFor: AuthFor;
  /** The contract's `x-fastify-config`. */
  config: FastifyContextConfig | undefined;
  /** Refuses bodies of a type that only other operations take. */
  onlyOwnTypes: onRequestHookHandler[];
}

/** Fastify skips a validator that is none. Its types do not say so. */
const NO_CHECK = undefined as unknown as ReturnType<FastifySchemaCompiler<unknown>>;

/** Turns Fastify's own validation and serialization off: ours do their work, see README.md. */
const NOT_BY_FASTIFY = { validatorCompiler: () => NO_CHECK, serializerCompiler: () => JSON.stringify };

export function toRoute(operation: Operation, parts: RouteParts): Partial<RouteOptions> {
  const { compiled, failures, authFor, onlyOwnTypes } = parts;
  const { headers: deprecation } = failures;
  const send = buildSend(operation, { ...parts, ...compiled, successor: deprecation.link });
  const isOnce = operation.parameters.some(({ keptHours }) => keptHours !== undefined);
  const answer = buildAnswer(operation, parts);
  const over = refuse('rate_limited', 'Too many requests. Try again after as many seconds as Retry-After says.');
  /** Refuses by `send`, not by an error: a refusal must cost no more than an answer, also in a flood. */
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

  async function serve(request: FastifyRequest, reply: FastifyReply) {
    // Fastify takes it for success where a hook throws null, and skips the hooks behind it.
    if (request.operationId === undefined)
      throw new TypeError('a hook threw null or undefined: the key was not checked');
    let answered: AnyAnswer;
    try {
      answered = await answer(request);
    } catch (error) {
      // The client has gone and nobody waits for a reply: an error that its broken body caused in the handler is not reported.
      if (reply.sent) return undefined;
      throw error;
    }
    if (reply.sent) return undefined;
    request.isAnswered = true;
    if (isOnce) request.isReplayed ||= 'Idempotency-Replayed' in (answered.headers ?? {});
    return send(reply, answered);
  }
}

/** Notes the operation for the log, and checks the key where one is needed: one hook for both, because each hook costs. */
function buildEnter(
  { id, path }: Operation,
  auth: onRequestHookHandler | undefined,
  deprecation: Record<string, string>,
) {
  const hasParams = path.includes('{');
  const announced = Object.keys(deprecation).length > 0 ? deprecation : undefined;
  const enter: onRequestHookHandler = function (request, reply, done) {
    // Fastify's router matches `/items/` with `/items/{itemId}`.
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

/** Checks the request, and calls the handler while the operation is served. */
function buildAnswer(operation: Operation, parts: RouteParts) {
  const { handler, compiled } = parts;
  const idempotencyKey = operation.parameters.find(({ keptHours }) => keptHours !== undefined);
  const OwnContext: typeof Context = withGiven(parts.given);
  const contextParts: ContextParts = { ...parts, operation: operation.id, idempotencyKey };
  const { deprecation } = operation;
  const sunset = buildSunset(deprecation?.sunset);

  return (request: FastifyRequest): AnyAnswer | Promise<AnyAnswer> => {
    if (sunset.isPast) return refuse('gone', `This operation was served until ${deprecation?.sunset?.toUTCString()}.`);
    const checked = compiled.check(request);
    if ('problems' in checked) return refuse('invalid_request', ...toTold(checked.problems));
    return handler(new OwnContext(checked, request, contextParts));
  };
}
