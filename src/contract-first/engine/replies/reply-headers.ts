/** Checks the headers that handlers answer with against the contract, and makes the headers of error replies. */
import type { FastifyReply } from 'fastify';
import { parseExactJson } from '../../json/exact-json.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { challengesOf } from '../access/challenges.ts';
import type { Contract, Operation, Reply } from '../contract/contract.ts';
import type { HeaderNode } from '../contract/document.ts';
import { isJson } from '../contract/replies.ts';
import type { ErrorFormOf, FailureForm } from '../errors/error-body.ts';
import type { BuildCheck } from '../schema/checks.ts';
import { type ReportProblem, reportIn } from '../schema/json.ts';
import { deprecationHeaders } from './deprecation.ts';

/**
 * Checks the headers of a handler's answer.
 * @throws Error for the log, with the locations in the contract, if the headers break the contract
 */
export type CheckHeaders = (headers: object) => void;

/**
 * Returns the declared headers that handlers answer with, without those that the server adds. On a deprecated
 * operation, `Link` is omitted, because the server adds the link to the successor.
 */
export function headersOfHandler({ deprecation }: Operation, { headers }: Reply): [string, HeaderNode][] {
  const own = deprecation ? [...SERVER_HEADERS, 'link'] : SERVER_HEADERS;
  return Object.entries(headers).filter(([name]) => !own.includes(name.toLowerCase()));
}

/**
 * Builds the check of the headers that a handler sets. Returns undefined if the contract declares no header of this reply
 * that a handler could set.
 */
export function buildCheckHeaders(
  buildCheck: BuildCheck,
  operation: Operation,
  reply: Reply,
  report: ReportProblem,
): CheckHeaders | undefined {
  const { id } = operation;
  const { status } = reply;
  const declared = headersOfHandler(operation, reply);
  if (declared.length === 0) return undefined;
  const jsons = declared.filter(([, { content = {} }]) => Object.keys(content).some(isJson)).map(([name]) => name);
  const toSchema = ({ schema, content = {} }: HeaderNode) => schema ?? Object.values(content)[0]?.schema ?? true;
  const schema = {
    type: 'object',
    properties: Object.fromEntries(declared.map(([name, header]) => [name, toSchema(header)])),
    required: declared.flatMap(([name, { required }]) => (required ? [name] : [])),
  };
  const reportHeaders = reportIn(report, toPointerOf('responses', status, 'headers'));
  const problemsOf = buildCheck(schema, { name: `response ${status}: headers`, at: '/header' }, reportHeaders);
  return (answered) => {
    const problems = problemsOf(jsons.length === 0 ? answered : withValues(answered, jsons));
    if (problems) throw new Error(`${id} has answered ${status} against the contract: ${problems.join('; ')}`);
  };
}

/** Parses the values of headers that are declared as JSON. Text that is not JSON stays text. */
function withValues(answered: object, names: string[]): object {
  const headers: Record<string, unknown> = { ...answered };
  for (const name of names.filter((one) => one in headers)) {
    try {
      headers[name] = parseExactJson(String(headers[name]));
    } catch {}
  }
  return headers;
}

/** Matches characters that the value of a header must not contain (RFC 9110, section 5.5). */
export const UNSENDABLE = /[^\t -~\x80-\xff]/;

/** Examples of request ids, without and with a trace id. */
export const REQUEST_IDS = ['AZaz09_--1', 'AZaz09_--zzzzzzzzzz.0af7651916cd43dd8448eb211c80319c'];

/** Headers that only the server sends, never a handler. */
export const SERVER_HEADERS = [
  ...['x-request-id', 'www-authenticate', 'retry-after', 'ratelimit', 'ratelimit-policy'],
  ...['deprecation', 'sunset'],
];

/**
 * Returns a value for `Vary` (RFC 9110, section 12.5.5): the names that a plugin may have set already, and the given
 * ones. No name is repeated.
 */
export function toVary(reply: FastifyReply, names: string): string {
  const all = [reply.getHeader('vary') ?? [], names].flat().join(',').split(',');
  return [...new Map(all.map((name) => [name.trim().toLowerCase(), name.trim()])).values()].join(', ');
}

export function toFailureForm(operation: Operation, contract: Contract, formOf: ErrorFormOf): FailureForm {
  const [challenge] = challengesOf(operation.security, contract.title)[401];
  const accept = operation.body?.contents.map(({ type }) => type).join(', ');
  return { formOf, headers: deprecationHeaders(operation, contract), challenge, accept };
}
