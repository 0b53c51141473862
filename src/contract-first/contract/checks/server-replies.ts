/**
 * Checks that the server's own errors and headers fit the contract. Of each error and header, the checks try the
 * shortest and the longest value.
 */
import { challengesOf } from '../../engine/access/challenges.ts';
import type { AnyContract, Operation, ReadContract, Reply } from '../../engine/contract/contract.ts';
import { encodePath } from '../../engine/contract/path-names.ts';
import { PLAIN_JSON, replyFor } from '../../engine/contract/replies.ts';
import { buildCatalogue, type Catalogue } from '../../engine/errors/catalogue.ts';
import { buildToBody, type ToErrorBody } from '../../engine/errors/error-body.ts';
import { deprecationHeaders } from '../../engine/replies/deprecation.ts';
import { REQUEST_IDS, SERVER_HEADERS } from '../../engine/replies/reply-headers.ts';
import type { CompileReply } from '../../engine/replies/reply-writers.ts';
import type { BuildCheck } from '../../engine/schema/checks.ts';
import { type ContractProblem, keywordsOf, type ReportProblem, reportIn } from '../../engine/schema/json.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { EXTREME_CURSORS } from '../../store/cursors.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { reportInOperation } from '../read/operations.ts';
import { codesOf, type Replying, reportUnfitErrors, toServerCodes } from './server-errors.ts';

/** Matches the media types, other than JSON, that errors of the server can have. */
export const TEXT = /^text\/(plain|html)$/;

export const RETRY_AFTER = ['1', '86400'];

/** Statuses of replies with the header `WWW-Authenticate`, the challenge. */
const CHALLENGED = [401, 403] as const;
/** Statuses of replies with the header `Retry-After`. */
export const RETRIED = [429, 503];

interface ServerRepliesOptions {
  buildCheck: BuildCheck;
  compileReply: CompileReply;
  contract: ReadContract;
  operation: Operation;
  toErrorBody: ToErrorBody;
  catalogue: Catalogue;
  /** The faults of error bodies that were already reported for another reply. */
  reported: Set<string>;
}

export function reportServerReplies(options: ServerRepliesOptions, report: ReportProblem): void {
  const { buildCheck, compileReply, contract, operation, toErrorBody, catalogue, reported } = options;
  const announced = deprecationHeaders(operation, contract);
  for (const reply of operation.replies) {
    const reportReply = reportIn(report, toPointerOf('responses', reply.status), `response ${reply.status}: `);
    const codes = codesOf(reply, operation, catalogue);
    const isError = Object.keys(codes).length > 0;
    if (isError && !reply.isJson && !TEXT.test(reply.type)) {
      reportReply(`the server sends its errors as ${PLAIN_JSON}, not ${reply.type}`);
    } else if (isError) {
      const toBody = buildToBody(toErrorBody, operation.id, reply);
      reportUnfitErrors(compileReply(reply, report), toBody, codes, reported, reportReply);
    }
    for (const name of missingHeaders(reply, operation, catalogue, Object.keys(announced)))
      reportReply(`header ${name} is required, and not sent`, toPointerOf('headers', name));
    for (const [name, value] of Object.entries(announced)) {
      if (!declaredHeader(reply, name)) reportReply(`header ${name} is sent, and not declared`, '/headers');
      else reportHeader(buildCheck, reply, name, [value], reportReply);
    }
    for (const [name, values] of Object.entries(sentHeaders(reply, operation, contract))) {
      reportHeader(buildCheck, reply, name, values, reportReply);
    }
  }
}

/**
 * Finds statuses, headers and error bodies that the server sends and the contract does not declare. Only the lint warns
 * about them.
 */
export function findUndeclared({ operations }: ReadContract, domain: AnyDomain): ContractProblem[] {
  const codes = toServerCodes(buildCatalogue(domain));
  const problems: ContractProblem[] = [];
  for (const operation of operations.values()) {
    const { replies } = operation;
    const report = reportInOperation((words, pointer) => problems.push({ words, pointer }), operation);
    const met = codes.filter(([code, { status }]) => isMet(code, status, operation));
    const statuses = [...new Set(met.map(([, { status }]) => status))];
    const undeclared = statuses.filter((status) => !replyFor(replies, status)).sort();
    if (undeclared.length > 0) report(`no response declares ${undeclared.join(', ')}, which are sent`, '/responses');
    for (const reply of replies) {
      const reportReply = reportIn(report, toPointerOf('responses', reply.status), `response ${reply.status}: `);
      for (const header of undeclaredHeaders(reply, operation, statuses))
        reportReply(`header ${header} is sent, and not declared`, '/headers');
      const isError = statuses.some((status) => replyFor(replies, status) === reply);
      if (isError && !reply.hasContent) reportReply('the body of an error is sent, and not declared');
    }
  }
  return problems;
}

/**
 * True if the server may send this error in this operation. False for `ids_used_up`: the contract declares it in each
 * operation that creates records, so the lint does not ask for it.
 */
function isMet(code: string, status: number, { path, security, parameters, body, deprecation }: Operation): boolean {
  const isKeyed = security.length > 0;
  const isOnce = parameters.some(({ keptHours }) => keptHours !== undefined);
  const met: Record<string, boolean> = {
    ...{ unauthorized: isKeyed, rate_limited: isKeyed, forbidden: security.some(({ scopes }) => scopes.length > 0) },
    ...{ payload_too_large: body !== undefined, unsupported_media_type: body !== undefined },
    ...{ idempotency_key_reused: isOnce, already_done: isOnce, outcome_unknown: isOnce },
    gone: deprecation?.sunset !== undefined,
    ...{ ids_used_up: false, not_implemented: false, http_version_not_supported: false },
  };
  if (status === 404) return code === 'route_not_found' && path.includes('{');
  return met[code] ?? true;
}

/**
 * Returns the headers that the server sends with this reply and that the reply does not declare. Every reply to a
 * request with a key contains the headers of the key's rate limit.
 */
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

/** Returns the headers that the reply declares as required although the server does not send them. */
export function missingHeaders(
  reply: Pick<Reply, 'status' | 'headers'>,
  operation: Replying,
  catalogue: Catalogue,
  announced: string[] = [],
): string[] {
  const sent = ['x-request-id', ...announced];
  if (CHALLENGED.some((status) => reply.status === `${status}`)) sent.push('www-authenticate');
  if (RETRIED.includes(Number(reply.status))) sent.push('retry-after');
  const isError = Object.keys(codesOf(reply, operation, catalogue)).length > 0;
  const isSent = (name: string) => sent.includes(name) || !(isError || SERVER_HEADERS.includes(name));
  return Object.keys(reply.headers).filter((name) => reply.headers[name]?.required && !isSent(name.toLowerCase()));
}

export const declaredHeader = ({ headers }: Pick<Reply, 'headers'>, name: string) =>
  Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];

/**
 * Reports a header of the server if its values do not fit its schema. Skips a header that the contract does not
 * declare.
 */
export function reportHeader(
  buildCheck: BuildCheck,
  reply: Pick<Reply, 'headers'>,
  name: string,
  values: string[],
  report: ReportProblem,
): void {
  const { schema = true } = declaredHeader(reply, name) ?? {};
  const reportOwn = reportIn(report, toPointerOf('headers', name));
  const check = buildCheck(schema, { name: `header ${name}`, at: '/it' }, reportOwn);
  const isNumber = [keywordsOf(schema).type].flat().some((type) => type === 'integer' || type === 'number');
  for (const value of values) {
    const problems = check(isNumber ? Number(value) : value);
    if (!problems) continue;
    reportOwn(`header ${name} is sent as ${value}, but ${problems.join('; ')}`);
    return;
  }
}

/** Returns examples of the headers that the server sends with this reply, by lower-case name. */
function sentHeaders(reply: Reply, operation: Operation, contract: AnyContract): Record<string, string[]> {
  const isFor = (statuses: readonly number[]) =>
    statuses.some((status) => replyFor(operation.replies, status) === reply);
  const isOnce = operation.parameters.some(({ keptHours }) => keptHours !== undefined);
  const challenges = challengesOf(operation.security, contract.title);
  return {
    'x-request-id': REQUEST_IDS,
    'www-authenticate': CHALLENGED.flatMap((status) => (isFor([status]) ? challenges[status] : [])),
    ratelimit: ['"key";r=0;t=1', '"key";r=999999;t=86400'],
    'ratelimit-policy': ['"key";q=1;w=1', '"key";q=999999;w=86400'],
    ...(isFor(RETRIED) && { 'retry-after': RETRY_AFTER }),
    ...(reply.status.startsWith('2') && isOnce && { 'idempotency-replayed': ['true'] }),
    ...(reply.status.startsWith('2') && { link: nextLinks(operation, contract) }),
  };
}

/** Returns examples of the links from a list to its next page, as the header `Link` has them. */
function nextLinks({ path, parameters, deprecation }: Operation, { prefix }: AnyContract): string[] {
  if (deprecation?.successor !== undefined) return [];
  const cursors = parameters.filter(({ isOpaque, in: location }) => isOpaque && location === 'query');
  const url = prefix + encodePath(path).replace(/\{\w+\}/g, '1');
  return cursors.flatMap(({ name }) => EXTREME_CURSORS.map((cursor) => `<${url}?${name}=${cursor}>; rel="next"`));
}
