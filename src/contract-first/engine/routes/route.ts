/**
 * The way of a request through its operation, from top to bottom. As much as possible is computed at the start. `http/server-options.ts`
 * contains the steps before it, which every request takes.
 */
import type {
  FastifyContextConfig,
  FastifyReply,
  FastifyRequest,
  FastifySchemaCompiler,
  onRequestHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from 'fastify';
import type { AuthFor } from '../access/auth.ts';
import type { SendTooManyRequests } from '../access/rate-limits.ts';
import type { Operation } from '../contract/contract.ts';
import { type Catalogue, HttpError, invalidRequest, NO_ROUTE, refuse, settle } from '../errors/catalogue.ts';
import type { FailureForm } from '../errors/error-body.ts';
import { buildSunset } from '../replies/deprecation.ts';
import { type AnyAnswer, buildSend } from '../replies/sending.ts';
import { type RequestState, stateOf } from '../request-state.ts';
import type { CompiledOperation } from './compiled-operations.ts';
import { type Context, type ContextParts, withGiven } from './context.ts';
import type { AnyHandler } from './handler.ts';
import { buildToNextLink } from './urls.ts';

export interface RouteParts extends Omit<ContextParts, 'operation' | 'idempotencyKey'> {
  /** The start of every path of the contract. */
  prefix: string;
  /** The arguments of handlers next to the request: the collections, by name, and the services. */
  given: object;
  handler: AnyHandler;
  /** The service's codes of errors. */
  catalogue: Catalogue;
  compiled: CompiledOperation;
  /** The form of error replies. Only deprecated operations have headers in it. */
  failures: FailureForm;
  /** Makes the hook that checks the key on operations that need one. */
  authFor: AuthFor;
  /** The contract's `x-fastify-config`. */
  config: FastifyContextConfig | undefined;
  /** Answers 415 to bodies of a type that only other operations take. */
  onlyOwnTypes: onRequestHookHandler[];
}

/** Fastify skips a validator that is undefined, although its types do not allow that. */
const NO_CHECK = undefined as unknown as ReturnType<FastifySchemaCompiler<unknown>>;

/** Turns off Fastify's own validation and serialization, since the engine has its own; see README.md. */
const NOT_BY_FASTIFY = { validatorCompiler: () => NO_CHECK, serializerCompiler: () => JSON.stringify };

export function buildRoute(operation: Operation, parts: RouteParts): Partial<RouteOptions> {
  const { compiled, failures, authFor, onlyOwnTypes } = parts;
  const { headers: deprecation } = failures;
  const toNextLink = buildToNextLink(operation, parts.urlOf);
  const send = buildSend(operation, { ...parts, ...compiled, successor: deprecation.link, toNextLink });
  const idempotencyKey = operation.parameters.find(({ keptHours }) => keptHours !== undefined);
  const { handler, catalogue } = parts;
  const OwnContext: typeof Context = withGiven(parts.given);
  const contextParts = { ...parts, operation: `${parts.prefix} ${operation.id}`, idempotencyKey };
  const over = refuse('rate_limited', 'Too many requests. Try again after as many seconds as Retry-After says.');
  /** Sends the error with `send` instead of throwing it, because an error reply must not cost more than an answer, even in a flood. */
  const sendTooManyRequests: SendTooManyRequests = (_request, reply, headers) => {
    send(reply, { ...over, headers });
  };
  const noteKey = idempotencyKey && buildNoteKey(operation.id, parts.logger);
  const { security, isKeyOptional } = operation;
  const auth = security.length > 0 ? authFor(security, sendTooManyRequests, isKeyOptional) : undefined;

  return {
    ...NOT_BY_FASTIFY,
    config: { ...parts.config, failures },
    onRequest: [buildEnter(operation, auth, deprecation), ...onlyOwnTypes],
    ...(operation.body?.maxBytes && { bodyLimit: operation.body.maxBytes }),
    preValidation: buildJudge(operation, compiled),
    // Fastify adds a HEAD route, even if the options of the app disable that.
    exposeHeadRoute: true,
    handler: serve,
  };

  async function serve(request: FastifyRequest, reply: FastifyReply) {
    const state = stateOf(request);
    const { checked } = state;
    if (!checked) throw new TypeError(`${SKIPPED}the request was not checked`);
    let answered: AnyAnswer;
    try {
      answered = settle(await handler(new OwnContext(checked, request, contextParts)), catalogue);
    } catch (error) {
      // If the client has disconnected, nobody waits for a reply. So an error that the broken body caused in the handler is not reported.
      if (reply.sent) return undefined;
      throw error;
    }
    if (reply.sent) return undefined;
    state.isAnswered = true;
    noteKey?.(state, answered);
    return send(reply, answered);
  }
}

/** The message about a handler that does not keep the promise of a declared `Idempotency-Key`. */
export const DROPPED =
  'has answered a request without passing on its Idempotency-Key: sent again, it is done again. Give the change { idempotency }.';

/** Notes that a reply repeats an earlier one. Warns once about a handler that ignores the keys of its requests. */
function buildNoteKey(id: string, logger: RouteParts['logger']) {
  let isReported = false;
  return (state: RequestState, { status, headers = {} }: AnyAnswer): void => {
    const isUsed = state.isReplayed !== undefined || state.checked?.digest === undefined;
    state.isReplayed ||= 'Idempotency-Replayed' in headers;
    if (isUsed || state.isReplayed || isReported || status >= 300) return;
    logger.warn(`operation ${id} ${DROPPED}`);
    isReported = true;
  };
}

/**
 * Notes the operation for the log, and checks the key if the operation needs one. A single hook does both, because each hook costs time.
 */
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
    const state = stateOf(request);
    state.operationId = id;
    if (announced) reply.headers(announced);
    if (auth) auth.call(this, request, reply, done);
    else {
      state.isAdmitted = true;
      done();
    }
  };
  return enter;
}

/** If a hook throws null, or calls `done` twice, Fastify takes it for success and skips the hooks after it. */
const SKIPPED = 'a hook threw null or undefined: ';

/** Checks the request against the contract, after the key and before the team's `preHandler`. */
function buildJudge({ deprecation }: Operation, { check }: CompiledOperation): preValidationHookHandler {
  const sunset = buildSunset(deprecation?.sunset);

  return (request, _reply, done) => {
    const state = stateOf(request);
    if (!state.isAdmitted) return done(new TypeError(`${SKIPPED}the key was not checked`));
    if (sunset.isPast)
      return done(new HttpError('gone', `This operation was served until ${deprecation?.sunset?.toUTCString()}.`));
    const checked = check(request);
    if ('problems' in checked) return done(invalidRequest(checked.problems));
    state.checked = checked;
    request.params = checked.path;
    request.query = checked.query;
    request.body = checked.body;
    done();
  };
}
