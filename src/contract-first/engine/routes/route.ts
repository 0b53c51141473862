/**
 * Builds the route of an operation. The steps of a request are in the order of the code. Everything that does not
 * depend on the request is computed at the start. The earlier steps, which are the same for all operations, are in
 * `http/server-options.ts`.
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
  /** The path before the paths of all operations. */
  prefix: string;
  /**
   * The properties of a handler's argument that do not depend on the request: the collections, by name, and the
   * services.
   */
  given: object;
  handler: AnyHandler;
  /** The error codes of the service. */
  catalogue: Catalogue;
  compiled: CompiledOperation;
  /** How the operation sends its error replies. `headers` is empty unless the operation is deprecated. */
  failures: FailureForm;
  /** Builds the hook that checks keys. The function is called only for operations that need a key. */
  authFor: AuthFor;
  /** The `x-fastify-config` of the operation. */
  config: FastifyContextConfig | undefined;
  /** The hooks that reply with 415 to media types which only other operations accept. */
  onlyOwnTypes: onRequestHookHandler[];
}

/**
 * Keeps Fastify from validating. Fastify skips a validator that is undefined, but its types do not allow undefined, so
 * a cast is needed.
 */
const NO_CHECK = undefined as unknown as ReturnType<FastifySchemaCompiler<unknown>>;

/** Turns off Fastify's own validation and serialization, because the engine does both itself (see README.md). */
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
  /**
   * Sends the error with `send` instead of throwing it, because `send` is faster: in a flood, an error reply must not
   * take more time than an answer.
   */
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
    // Makes Fastify add a HEAD route to each GET route, even if the app's options disable this.
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
      // After a disconnect, the reply counts as sent, and the error of the incomplete body is dropped.
      if (reply.sent) return undefined;
      throw error;
    }
    if (reply.sent) return undefined;
    state.isAnswered = true;
    noteKey?.(state, answered);
    return send(reply, answered);
  }
}

/** The warning about a handler that ignores an `Idempotency-Key` which its operation declares. */
export const DROPPED =
  'has answered a request without passing on its Idempotency-Key: sent again, it is done again. Give the change { idempotency }.';

/**
 * Builds the function that notes whether a reply repeats an earlier reply. The function also logs a warning, but only
 * once, if the handler ignores the `Idempotency-Key` of a request.
 */
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
 * Builds the first hook of the route. The hook notes the operation of the request for the log, and checks the key if
 * the operation needs one. A single hook does both, because each hook takes time.
 */
function buildEnter(
  { id, path }: Operation,
  auth: onRequestHookHandler | undefined,
  deprecation: Record<string, string>,
) {
  const hasParams = path.includes('{');
  const announced = Object.keys(deprecation).length > 0 ? deprecation : undefined;
  const enter: onRequestHookHandler = function (request, reply, done) {
    // Fastify's router matches `/items/` with `/items/{itemId}`, with an empty `itemId`.
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

/**
 * The beginning of the message about a skipped hook. Fastify treats a hook that throws null, or that calls `done`
 * twice, as successful, and skips the hooks after it.
 */
const SKIPPED = 'a hook threw null or undefined: ';

/**
 * Builds the hook that checks the request against the contract. The hook runs after the key was checked, and before the
 * team's `preHandler`.
 */
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
