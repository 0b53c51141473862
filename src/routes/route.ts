/**
 * The way of a request through its operation, from top to bottom: what is here is done for each request. All else is decided at
 * the start. What comes before, for every request, is in `http/every-request.ts`.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import type { Operation, Reply, Requirement } from '../contract/contract.ts';
import type { ToErrorBody } from '../contract/error-body.ts';
import { PLAIN_JSON } from '../contract/media-types.ts';
import { replyFor } from '../contract/replies.ts';
import { type ErrorBody, refuse } from '../http/errors.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import { JsonText } from '../json/json-text.ts';
import { announce, linkToSuccessor } from '../replies/deprecation.ts';
import { buildIsPassedOn, sendPassedOn } from '../replies/passed-on-replies.ts';
import { buildIsGone } from '../replies/sunset.ts';
import { type Around, Call } from './call.ts';
import type { CompiledOperation } from './compiled-operations.ts';
import type { AnyAnswer, AnyHandler } from './handler.ts';

/** Does what every reply needs before it is sent. */
export type BeforeReply = (request: FastifyRequest, reply: FastifyReply) => void;

/** Lets requests pass that have one of these ways in. */
export type AuthFor = (security: Requirement[], over: RefuseOver) => onRequestHookHandler;

/** Answers a request that is beyond a limit, with these headers. */
type RefuseOver = (request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>) => void;

export interface RouteParts extends Omit<Around, 'idempotencyKey'> {
  handler: AnyHandler;
  compiled: CompiledOperation;
  /** Those of every reply of a deprecated operation; empty for any other. */
  deprecation: Record<string, string>;
  /** Makes the hook that checks the key on operations that need one. */
  authFor: AuthFor;
  /** Refuses bodies of a type that only other operations take. */
  onlyOwnTypes: onRequestHookHandler[];
  beforeReply: BeforeReply;
  toErrorBody: ToErrorBody;
}

const over = refuse('rate_limited', 'Too many requests. Try again after as many seconds as Retry-After says.');
const OVER = { status: over.status, text: JsonText.of<ErrorBody>(JSON.stringify(over.body)) };

export function toRoute(operation: Operation, parts: RouteParts): Partial<RouteOptions> {
  const { handler, compiled, deprecation, onlyOwnTypes, store, urlOf, authFor, logger, beforeReply, toErrorBody } =
    parts;
  const idempotencyKey = operation.parameters.find(({ keptHours }) => keptHours !== undefined);
  const around: Around = { store, urlOf, logger, idempotencyKey };
  const { check, write } = compiled;
  const { link, ...others } = deprecation;
  const constantOf = buildConstantHeaders(operation, [...securityOf(operation), ...Object.entries(others)].flat());
  const addLink = linkToSuccessor(link);
  const isPassedOn = buildIsPassedOn(operation);
  const { sunset } = operation.deprecation ?? {};
  const isGone = buildIsGone(sunset);
  const auth = operation.security.length > 0 ? authFor(operation.security, refuseOver) : undefined;

  function refuseRequest(problems: string): AnyAnswer {
    const { status, body } = refuse('invalid_request', problems);
    return { status, body: toErrorBody(body) };
  }

  function answer(request: FastifyRequest): AnyAnswer | Promise<AnyAnswer> {
    const checked = check(request);
    if ('problems' in checked) return refuseRequest(checked.problems.join('; '));
    return handler(new Call(checked, request, around));
  }

  /**
   * By Node's means: Fastify would copy the headers, run its hooks and look for what the body is. It still sends failures, and
   * replies without a body. Never returns the reply: it is a thenable, so a promise of it would wait until it is sent.
   */
  function send(request: FastifyRequest, reply: FastifyReply, answered: AnyAnswer): undefined | Promise<void> {
    const { status, body, headers = {} } = answered;
    const own = addLink(headers);
    if (idempotencyKey) request.isReplayed = 'Idempotency-Replayed' in own;
    if (body === undefined) {
      reply.code(status).headers(own).send();
      return undefined;
    }
    const head = ['x-request-id', request.id, ...constantOf(status)];
    for (const name in own) head.push(name, own[name] as string);
    if (isPassedOn(status)) return sendPassedOn(body, { request, reply, logger, beforeReply, status, head });
    const { text, bytes } = body instanceof JsonText ? body : JsonText.of<unknown>(write(status, body));
    head.push('content-length', String(bytes));
    beforeReply(request, reply);
    // ASCII is the same in Latin-1, and Node need not look at each character.
    sendWhole(reply.raw.writeHead(status, head), text, bytes === text.length ? 'latin1' : 'utf8');
    return undefined;
  }

  /** As cheaply as an answer: a flood must not cost more. */
  function refuseOver(request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>): void {
    send(request, reply, { status: OVER.status, body: OVER.text, headers });
  }

  function serve(request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    const answered = answer(request);
    if (answered instanceof Promise) return answered.then((later) => send(request, reply, later));
    return send(request, reply, answered);
  }

  /** Whoever still calls it can be told before it is removed. */
  function serveDeprecated(request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    request.caller?.use.countDeprecated(operation.id);
    if (!isGone()) return serve(request, reply);
    return send(request, reply, refuse('gone', `This operation was served until ${sunset?.toUTCString()}.`));
  }

  return {
    onRequest: [buildEnter(operation.id, auth), ...onlyOwnTypes],
    onSend: announce(deprecation),
    ...(operation.body?.maxBytes && { bodyLimit: operation.body.maxBytes }),
    handler: operation.deprecation ? serveDeprecated : serve,
  };
}

/**
 * Head and body in one write. Before Node 24, `end(text)` writes an empty text behind them, and both as a list of buffers, which
 * takes 5 % of a request's time. Where the connection is gone, Node would drop the text and report it as sent, so
 * `end` is left to do all.
 */
function sendWhole(raw: ServerResponse, text: string, encoding: BufferEncoding): void {
  if (!raw.socket?.writable) {
    raw.end(text, encoding);
    return;
  }
  raw.cork();
  raw.write(text, encoding);
  raw.uncork();
  raw.end();
}

/** Notes the operation for the log, and checks the key where one is needed: in one hook, because each costs. */
function buildEnter(id: string, auth: onRequestHookHandler | undefined): onRequestHookHandler {
  return function enter(request, reply, done) {
    request.operationId = id;
    if (auth) auth.call(this, request, reply, done);
    else done();
  };
}

/** Where the contract declares such a header, it is the handler's. */
function securityOf({ replies }: Operation): [string, string][] {
  const declared = replies.flatMap(({ headers }) => Object.keys(headers).map((name) => name.toLowerCase()));
  return Object.entries(SECURITY_HEADERS).filter(([name]) => !declared.includes(name));
}

/** The headers that every reply with a body and this status has. */
function buildConstantHeaders({ replies }: Operation, others: string[]): (status: number) => string[] {
  const plain = ['content-type', `${PLAIN_JSON}; charset=utf-8`, ...others];
  const marked = replies.filter(({ type }) => type !== PLAIN_JSON);
  if (marked.length === 0) return () => plain;
  const markOf = ({ type }: Reply) => (type.startsWith('text/') ? `${type}; charset=utf-8` : type);
  const byReply = new Map(marked.map((reply) => [reply, ['content-type', markOf(reply), ...others]]));
  return (status) => byReply.get(replyFor(replies, status) as Reply) ?? plain;
}
