/** Checks that the contract declares what the server itself sends: errors, headers and cursors. */
import type { Contract, Operation, Reply } from '../contract/contract.ts';
import type { ToErrorBody } from '../contract/error-body.ts';
import { PLAIN_JSON } from '../contract/media-types.ts';
import { CODES, type ErrorCode, Failure, kindOf } from '../http/errors.ts';
import type { BuildCheck, Check } from '../schema/checks.ts';
import type { Refuse } from '../schema/json.ts';
import { EXTREME_CURSORS } from '../store/cursors.ts';
import type { CompileReply } from './compiled-reply.ts';
import { deprecationHeaders } from './deprecation.ts';

/** Only handlers and the router answer with these. */
const OTHERS = [404, 405];
const OWN_CODES = CODES.filter((code) => !OTHERS.includes(kindOf(code).status));

/** Headers that no handler sends. */
const OWN_HEADERS = [
  ...['x-request-id', 'www-authenticate', 'retry-after', 'ratelimit', 'ratelimit-policy'],
  ...['deprecation', 'sunset'],
];

export interface OwnRepliesOptions {
  buildCheck: BuildCheck;
  compileReply: CompileReply;
  contract: Contract;
  operation: Operation;
}

export function checkOwnReplies(options: OwnRepliesOptions, refuse: Refuse): void {
  const { buildCheck, compileReply, contract, operation } = options;
  const announced = deprecationHeaders(operation, contract);
  for (const reply of operation.replies) {
    const refuseReply = (problem: string) => refuse(`response ${reply.status}: ${problem}`);
    const codes = codesOf(reply, operation);
    if (codes.length > 0 && reply.type !== PLAIN_JSON) {
      refuseReply(`the server sends its errors as ${PLAIN_JSON}, not ${reply.type}`);
    }
    if (reply.isJson) checkErrorBody(compileReply(reply, refuse).check, contract.toErrorBody, codes, refuseReply);
    checkRequiredHeaders(reply, operation, Object.keys(announced), refuseReply);
    for (const [name, value] of Object.entries(announced)) checkHeader(buildCheck, reply, name, value, refuseReply);
  }
  checkCursors(buildCheck, operation, refuse);
}

/** The error codes sent with this reply: those of its status; for `4XX` and `default` those without a reply of their own. */
function codesOf({ status }: Reply, { replies, deprecation }: Operation) {
  const names = replies.map((reply) => reply.status.toUpperCase());
  return OWN_CODES.filter((code) => {
    if (code === 'gone' && !deprecation?.sunset) return false;
    const own = String(kindOf(code).status);
    return [own, `${own[0]}XX`, 'DEFAULT'].find((name) => names.includes(name)) === status.toUpperCase();
  });
}

function checkErrorBody(check: Check, toErrorBody: ToErrorBody, codes: ErrorCode[], refuse: Refuse): void {
  for (const code of codes) {
    const problems = check(toErrorBody(new Failure(code, 'What went wrong.').body));
    if (!problems) continue;
    refuse(`its body cannot be the Error ${code} of the server: ${problems.join('; ')}`);
    return;
  }
}

function checkRequiredHeaders(reply: Reply, operation: Operation, announced: string[], refuse: Refuse): void {
  const sent = ['x-request-id', ...announced];
  if (['401', '403'].includes(reply.status)) sent.push('www-authenticate');
  if (['429', '503'].includes(reply.status)) sent.push('retry-after');
  const isOwn = codesOf(reply, operation).length > 0;
  for (const [name, { required }] of Object.entries(reply.headers)) {
    const isSent = sent.includes(name.toLowerCase()) || !(isOwn || OWN_HEADERS.includes(name.toLowerCase()));
    if (required && !isSent) refuse(`header ${name} is required, and not sent`);
  }
}

function checkHeader(buildCheck: BuildCheck, { headers }: Reply, name: string, value: string, refuse: Refuse): void {
  const declared = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  const check = buildCheck(declared?.[1].schema ?? true, { name: `header ${name}`, at: 'it' }, refuse);
  const problems = check(value);
  if (!declared) refuse(`header ${name} is sent, and not declared`);
  else if (problems) refuse(`header ${name} is sent as ${value}, but ${problems.join('; ')}`);
}

/** A list's own link to its next page must be a request that it takes. */
function checkCursors(buildCheck: BuildCheck, { parameters }: Operation, refuse: Refuse): void {
  for (const { name, schema, int64s } of parameters.filter(({ isOpaque }) => isOpaque)) {
    const check = buildCheck(schema, { name: `parameter ${name}`, at: 'it', int64s }, () => {});
    const refused = EXTREME_CURSORS.find(check);
    if (refused) refuse(`parameter ${name}: cannot be the cursor ${refused}: ${check(refused)?.join('; ')}`);
  }
}
