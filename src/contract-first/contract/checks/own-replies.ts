/** Checks that the server's own errors, headers and cursors fit the contract. */
import type { Operation, Parameter, ReadContract, Reply } from '../../engine/contract/contract.ts';
import { encodePath } from '../../engine/contract/path-names.ts';
import { PLAIN_JSON, replyFor } from '../../engine/contract/replies.ts';
import { buildToBody, type ToErrorBody } from '../../engine/error-body.ts';
import { type ErrorCode, kindOf } from '../../engine/errors.ts';
import { deprecationHeaders } from '../../engine/replies/deprecation.ts';
import { OWN_HEADERS } from '../../engine/replies/reply-headers.ts';
import type { CompileReply } from '../../engine/replies/reply-writers.ts';
import type { BuildCheck } from '../../engine/schema/checks.ts';
import { keywordsOf, type Refuse } from '../../engine/schema/json.ts';
import { EXTREME_CURSORS } from '../../store/lists.ts';
import { findLimit } from '../read/parameters.ts';
import { checkErrors, codesOf, type Replying, toOwnCodes } from './own-errors.ts';
import { CHALLENGED, RETRIED, sentHeaders } from './sent-headers.ts';

/** The media types of text that errors may be sent as. */
export const TEXT = /^text\/(plain|html)$/;

export interface OwnRepliesOptions {
  buildCheck: BuildCheck;
  compileReply: CompileReply;
  contract: ReadContract;
  operation: Operation;
  toErrorBody: ToErrorBody;
  /** The faults of errors that were reported for other replies. */
  told: Set<string>;
}

export function checkOwnReplies(options: OwnRepliesOptions, refuse: Refuse): void {
  const { buildCheck, compileReply, contract, operation, toErrorBody, told } = options;
  const announced = deprecationHeaders(operation, contract);
  for (const reply of operation.replies) {
    const refuseReply = (problem: string) => refuse(`response ${reply.status}: ${problem}`);
    const codes = codesOf(reply, operation);
    if (codes.length > 0 && !reply.isJson && !TEXT.test(reply.type)) {
      refuseReply(`the server sends its errors as ${PLAIN_JSON}, not ${reply.type}`);
    } else if (codes.length > 0) {
      const toBody = buildToBody(toErrorBody, operation.id, reply);
      checkErrors(compileReply(reply, refuse), toBody, codes, told, refuseReply);
    }
    for (const name of missingHeaders(reply, operation, Object.keys(announced)))
      refuseReply(`header ${name} is required, and not sent`);
    for (const [name, value] of Object.entries(announced)) {
      if (!declaredHeader(reply, name)) refuseReply(`header ${name} is sent, and not declared`);
      else checkHeader(buildCheck, reply, name, [value], refuseReply);
    }
    for (const [name, values] of Object.entries(sentHeaders(reply, operation, contract))) {
      checkHeader(buildCheck, reply, name, values, refuseReply);
    }
  }
  if (contract.isComplete) checkLocations(buildCheck, options, refuse);
  checkCursors(buildCheck, options, refuse);
}

/**
 * Names replies and headers that the server sends and a contract with `x-complete` does not declare. `npm run generate` reports them; the
 * server would still run.
 */
export function describeUndeclared({ operations, isComplete }: ReadContract): string[] {
  if (!isComplete) return [];
  return [...operations.values()].flatMap((operation) => {
    const { id, replies } = operation;
    const statuses = [
      ...new Set(
        toOwnCodes()
          .filter((code) => isMet(code, operation))
          .map((code) => kindOf(code).status),
      ),
    ];
    const undeclared = statuses.filter((status) => !replyFor(replies, status)).sort();
    const isOwn = (reply: Reply) => statuses.some((status) => replyFor(replies, status) === reply);
    return [
      ...(undeclared.length > 0
        ? [`operation ${id}: no response declares ${undeclared.join(', ')}, which are sent`]
        : []),
      ...replies.flatMap((reply) => [
        ...undeclaredHeaders(reply, operation, statuses).map(
          (name) => `operation ${id}: response ${reply.status}: header ${name} is sent, and not declared`,
        ),
        ...(isOwn(reply) && !reply.hasContent
          ? [`operation ${id}: response ${reply.status}: the body of an error is sent, and not declared`]
          : []),
      ]),
    ];
  });
}

/** Whether the server may answer a request of this operation with this error. Operations that create declare `ids_used_up` themselves. */
function isMet(code: ErrorCode, { path, security, parameters, body, deprecation }: Operation): boolean {
  const isKeyed = security.length > 0;
  const isOnce = parameters.some(({ keptHours }) => keptHours !== undefined);
  const met: Partial<Record<ErrorCode, boolean>> = {
    ...{ unauthorized: isKeyed, rate_limited: isKeyed, forbidden: security.some(({ scopes }) => scopes.length > 0) },
    ...{ payload_too_large: body !== undefined, unsupported_media_type: body !== undefined },
    ...{ idempotency_key_reused: isOnce, already_done: isOnce, outcome_unknown: isOnce },
    gone: deprecation?.sunset !== undefined,
    ...{ ids_used_up: false, not_implemented: false, http_version_not_supported: false },
  };
  if (kindOf(code).status === 404) return code === 'route_not_found' && path.includes('{');
  return met[code] ?? true;
}

/** The headers that are sent with this reply, for any of these statuses, and not declared. Every reply to a key has its rate limit. */
function undeclaredHeaders(reply: Reply, { replies, security }: Operation, statuses: number[]): string[] {
  const isFor = (status: number) => statuses.includes(status) && replyFor(replies, status) === reply;
  const sent = [
    'X-Request-Id',
    ...(security.length > 0 && reply.status !== '401' ? ['RateLimit', 'RateLimit-Policy'] : []),
    ...(CHALLENGED.some(isFor) ? ['WWW-Authenticate'] : []),
    ...(RETRIED.some(isFor) ? ['Retry-After'] : []),
  ];
  return sent.filter((name) => !declaredHeader(reply, name.toLowerCase()));
}

/** Headers that the reply requires, and that are not sent with it. */
export function missingHeaders(
  reply: Pick<Reply, 'status' | 'headers'>,
  operation: Replying,
  announced: string[] = [],
): string[] {
  const sent = ['x-request-id', ...announced];
  if (CHALLENGED.some((status) => reply.status === `${status}`)) sent.push('www-authenticate');
  if (RETRIED.includes(Number(reply.status))) sent.push('retry-after');
  const isOwn = codesOf(reply, operation).length > 0;
  const isSent = (name: string) => sent.includes(name) || !(isOwn || OWN_HEADERS.includes(name));
  return Object.keys(reply.headers).filter((name) => reply.headers[name]?.required && !isSent(name.toLowerCase()));
}

const declaredHeader = ({ headers }: Pick<Reply, 'headers'>, name: string) =>
  Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];

/** A header that the contract does not declare is not checked. */
export function checkHeader(
  buildCheck: BuildCheck,
  reply: Pick<Reply, 'headers'>,
  name: string,
  values: string[],
  refuse: Refuse,
): void {
  const { schema = true } = declaredHeader(reply, name) ?? {};
  const check = buildCheck(schema, { name: `header ${name}`, at: '/it' }, refuse);
  const isNumber = [keywordsOf(schema).type].flat().some((type) => type === 'integer' || type === 'number');
  for (const value of values) {
    const problems = check(isNumber ? Number(value) : value);
    if (!problems) continue;
    refuse(`header ${name} is sent as ${value}, but ${problems.join('; ')}`);
    return;
  }
}

/** Checks that a `Location` may be the path of an operation, as `urlOf` makes it. */
function checkLocations(buildCheck: BuildCheck, { contract, operation }: OwnRepliesOptions, refuse: Refuse): void {
  const paths = [...contract.operations.values()].map(({ path }) => encodePath(path).replace(/\{\w+\}/g, '1'));
  const urls = paths.map((path) => contract.prefix + path);
  for (const reply of operation.replies) {
    const { schema } = declaredHeader(reply, 'location') ?? {};
    if (schema === undefined) continue;
    const check = buildCheck(schema, { name: 'header Location', at: '/it' }, refuse);
    if (urls.every((url) => check(url))) {
      refuse(`response ${reply.status}: header Location cannot be the path of an operation, such as ${urls[0]}`);
    }
  }
}

/** Checks that the link to the next page is a valid request of the operation. */
function checkCursors(buildCheck: BuildCheck, { contract, operation }: OwnRepliesOptions, refuse: Refuse): void {
  const { method, parameters } = operation;
  // The cursor `after` of a page counts as opaque, even if the contract does not say so.
  const ofPage = contract.isComplete && findLimit(parameters) ? 'after' : undefined;
  const isCursor = ({ name, in: place, isOpaque }: Parameter) => isOpaque || (place === 'query' && name === ofPage);
  for (const { name, in: place, required, schema, int64s } of parameters.filter(isCursor)) {
    if (required && place === 'query')
      refuse(`parameter ${name}: a first page has no cursor, so that it cannot be required`);
    const check = buildCheck(schema, { name: `parameter ${name}`, at: '/it', int64s }, () => {});
    const refused = EXTREME_CURSORS.find(check);
    if (findLimit(parameters) && method !== 'GET')
      refuse(`parameter ${name}: the link to a next page is requested with GET, not ${method}`);
    if (refused) refuse(`parameter ${name}: cannot be the cursor ${refused}: ${check(refused)?.join('; ')}`);
  }
}
