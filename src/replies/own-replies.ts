/** Checks that the contract declares what the server itself sends: errors, headers and cursors. */
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { Contract, Operation, Reply } from '../contract/contract.ts';
import type { ToErrorBody } from '../contract/error-body.ts';
import { PLAIN_JSON } from '../contract/media-types.ts';
import { CODES, type ErrorCode, Failure, kindOf } from '../http/errors.ts';
import { prepare } from '../schema/ajv.ts';
import { compile } from '../schema/compilation.ts';
import type { Refuse } from '../schema/json.ts';
import type { CompileReply } from './compiled-reply.ts';
import { deprecationHeaders } from './deprecation.ts';
import { extremeCursors } from './pagination.ts';

/** Only handlers and the router answer with these. */
const OTHERS = [404, 405];
const OWN_CODES = CODES.filter((code) => !OTHERS.includes(kindOf(code).status));

/** Headers that no handler sends. */
const OWN_HEADERS = [
  ...['x-request-id', 'www-authenticate', 'retry-after', 'ratelimit', 'ratelimit-policy'],
  ...['deprecation', 'sunset'],
];

export interface OwnRepliesOptions {
  ajv: Ajv2020;
  compileReply: CompileReply;
  contract: Contract;
  operation: Operation;
}

export function checkOwnReplies(options: OwnRepliesOptions, refuse: Refuse): void {
  const { ajv, compileReply, contract, operation } = options;
  const announced = deprecationHeaders(operation, contract);
  for (const reply of operation.replies) {
    const refuseReply = (problem: string) => refuse(`response ${reply.status}: ${problem}`);
    const codes = codesOf(reply, operation);
    if (codes.length > 0 && reply.type !== PLAIN_JSON) {
      refuseReply(`the server sends its errors as ${PLAIN_JSON}, not ${reply.type}`);
    }
    if (reply.isJson)
      checkErrorBody(ajv, compileReply(reply, refuse).validate, contract.toErrorBody, codes, refuseReply);
    checkRequiredHeaders(reply, operation, Object.keys(announced), refuseReply);
    for (const [name, value] of Object.entries(announced)) checkHeader(ajv, reply, name, value, refuseReply);
  }
  checkCursors(ajv, operation, refuse);
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

function checkErrorBody(
  ajv: Ajv2020,
  validate: ValidateFunction,
  toErrorBody: ToErrorBody,
  codes: ErrorCode[],
  refuse: Refuse,
): void {
  const refused = codes.find((code) => !validate(toErrorBody(new Failure(code, 'What went wrong.').body)));
  if (refused) refuse(`its body cannot be the Error ${refused} of the server: ${ajv.errorsText(validate.errors)}`);
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

function checkHeader(ajv: Ajv2020, { headers }: Reply, name: string, value: string, refuse: Refuse): void {
  const declared = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  const validate = compile(ajv, declared?.[1].schema ?? true, `header ${name}`, refuse);
  if (!declared) refuse(`header ${name} is sent, and not declared`);
  else if (!validate(value)) refuse(`header ${name} is sent as ${value}, which ${ajv.errorsText(validate.errors)}`);
}

/** A list's own link to its next page must be a request that it takes. */
function checkCursors(ajv: Ajv2020, { parameters }: Operation, refuse: Refuse): void {
  const filters = parameters.flatMap(({ schema }): string[] => schema.enum ?? []);
  for (const { name, schema, int64s } of parameters.filter(({ isOpaque }) => isOpaque)) {
    const validate = compile(ajv, prepare(schema, int64s), `parameter ${name}`, () => {});
    const refused = extremeCursors(filters.map(String)).find((cursor) => !validate(cursor));
    if (refused) refuse(`parameter ${name}: cannot be the cursor ${refused}: ${ajv.errorsText(validate.errors)}`);
  }
}
