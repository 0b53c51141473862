/**
 * Checks that the server's errors fit the contract. The function `toErrorBody` in the team's `errors.ts` makes their
 * bodies.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Operation, ReadContract, Reply } from '../../engine/contract/contract.ts';
import { replyFor } from '../../engine/contract/replies.ts';
import { buildCatalogue, type Catalogue, type ErrorCode, GENERAL, HttpError } from '../../engine/errors/catalogue.ts';
import type { ErrorForm } from '../../engine/errors/error-body.ts';
import { Problem } from '../../engine/errors/problem.ts';
import type { CompiledReply } from '../../engine/replies/reply-writers.ts';
import { type Int64Map, int64sOf } from '../../engine/schema/int64-map.ts';
import { type ContractProblem, isNode, keywordsOf, type ReportProblem, type Schema } from '../../engine/schema/json.ts';
import { toWritten } from '../../engine/schema/json-writers.ts';
import { scopeOf, subschemasOf } from '../../engine/schema/subschemas.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { schemaOf } from './records.ts';

/**
 * Returns the error codes that the server itself sends in operations. Omits 405, which is sent for a method without an
 * operation, and the codes that only handlers and plugins use.
 */
export const toServerCodes = (catalogue: Catalogue): [code: string, kind: { status: number }][] =>
  Object.entries(catalogue).filter(([code, { status }]) => !(code in GENERAL) && status !== 405);

/**
 * Finds codes in the contract's `Error` schema that lack a status. TypeScript would report an error where such a code
 * is used, but not that the status is missing.
 */
export function findUnknownCodes({ document }: ReadContract, domain: AnyDomain): ContractProblem[] {
  const { code = true, ...others } = mergeAllOf(schemaOf(document, 'Error')).properties ?? {};
  if (!('message' in others && 'status' in others)) return [];
  const { 'x-extensible-enum': open = [], enum: codes = open } = mergeAllOf(code);
  const known = Object.keys(buildCatalogue(domain));
  const unknown = codes.filter((one) => !known.includes(String(one)));
  const advice = (one: unknown) => `give the description of a collection errors: { ${one}: { status: 404 } }`;
  return unknown.map((one) => ({
    words: `schema Error: field code: ${one} has no status: ${advice(one)}`,
    pointer: '/components/schemas/Error/code',
  }));
}

/** The fields of an operation and its replies that determine which errors the server sends in this operation. */
type Named = Pick<Reply, 'status'>;
export type Replying = Pick<Operation, 'path' | 'deprecation'> & { replies: Named[] };

/**
 * True if the server can send the code in this operation. The server sends `gone` only after a sunset date, and 404
 * only if the path contains a parameter, namely for an empty parameter.
 */
const mayBe = (code: string, status: number, { path, deprecation }: Pick<Operation, 'path' | 'deprecation'>) =>
  (code !== 'gone' || deprecation?.sunset !== undefined) && (status !== 404 || path.includes('{'));

/**
 * Returns the error codes that are sent with this reply: all codes of its status. For `4XX` and `default`, these are
 * the codes with a status that no more specific reply covers.
 */
export const codesOf = (reply: Named, operation: Replying, catalogue: Catalogue): Catalogue =>
  Object.fromEntries(
    toServerCodes(catalogue).filter(
      ([code, { status }]) => mayBe(code, status, operation) && replyFor(operation.replies, status) === reply,
    ),
  );

/**
 * The longest message of an error, by error code. The message of `invalid_request` contains names of fields in the
 * body, so it can be any text of up to 8 KB. The other messages are short constants.
 */
const LONGEST_MESSAGES = { invalid_request: `body.\u0000\n"\u00e9\u{1f415} ${'x'.repeat(7900)}` };
/** 20 problems, the most that one error lists, with JSON Pointers into all parts of a request. */
const PROBLEMS = Array.from({ length: 20 }, (_, index) => {
  const pointer = ['', '/x', `/${'x'.repeat(390)}`, '/~1\u0000', '/0'][index % 5];
  const code = ['required', 'unknown', 'maxLength', 'inexact', 'not'][index % 5] as string;
  return new Problem(
    `/${['body', 'path', 'query', 'header'][index % 4]}${pointer}`,
    code,
    LONGEST_MESSAGES.invalid_request,
  );
});
const OTHER_MESSAGE = 'What went wrong, and what to do: '.padEnd(160, 'x');
export const REQUEST_ID = 'AZaz09_--zzzzzzzzzz.0af7651916cd43dd8448eb211c80319c';

const MADE_BY_TEAM = 'what toErrorBody in src/errors.ts makes of ';

/**
 * True if the problem is about the team's `src/errors.ts`. Such a problem fails the start although the contract itself
 * may be right.
 */
export const isOfErrors = ({ words }: ContractProblem): boolean => words.includes(`: ${MADE_BY_TEAM}`);

/**
 * Reports errors with a body that does not fit a reply. Most replies would give the same problem, so `reported`
 * collects the reported problems, and each is reported only for the first reply.
 */
export function reportUnfitErrors(
  compiled: CompiledReply,
  toBody: ErrorForm['toBody'],
  codes: Catalogue,
  reported: Set<string>,
  report: ReportProblem,
): void {
  for (const code of Object.keys(codes) as ErrorCode[]) {
    const problem = findUnfitBody(compiled, toBody, code, codes);
    if (problem === undefined) continue;
    if (!reported.has(problem)) report(`${MADE_BY_TEAM}${code} is no such body: ${problem}`);
    reported.add(problem);
    return;
  }
}

/** Makes the shortest and the longest error with this code. */
export function failuresOf(code: ErrorCode, catalogue: Catalogue): HttpError[] {
  const isLong = code in LONGEST_MESSAGES;
  const longest = isLong ? LONGEST_MESSAGES.invalid_request : OTHER_MESSAGE;
  const failures = [new HttpError(code, 'x'), new HttpError(code, longest, isLong ? { problems: PROBLEMS } : {})];
  return failures.map((failure) => failure.settle(catalogue));
}

/** Returns the problem of the shortest or the longest error if its body does not fit; undefined if both fit. */
export const findUnfitBody = (
  compiled: CompiledReply,
  toBody: ErrorForm['toBody'],
  code: ErrorCode,
  catalogue: Catalogue,
): string | undefined =>
  failuresOf(code, catalogue)
    .map(({ body }) => findProblem(compiled, () => toBody(body, REQUEST_ID)))
    .find(Boolean);

function findProblem({ schema, check }: CompiledReply, make: () => unknown): string | undefined {
  let body: unknown;
  try {
    body = toWritten(make());
  } catch (error) {
    return `it throws ${error}`;
  }
  const problems = check(body);
  if (problems) return problems.join('; ');
  const pointer = isEmpty(body) ? findText(schema, 'body') : undefined;
  if (pointer) return `it has no message: write it to ${pointer}`;
  const named = namedIn(body, [int64sOf(schema)]) as Fields;
  const unnamed = Object.keys(Object(body)).filter((name) => !isDeepStrictEqual((body as Fields)[name], named[name]));
  return unnamed.length === 0
    ? undefined
    : `the contract does not name all of ${unnamed.map((name) => `body.${name}`).join(', ')}`;
}

type Fields = Record<string, unknown>;

/**
 * Returns a copy of the value with only the fields that the contract names. An object keeps all fields if the contract
 * names none of them. `described` lists the int64 maps that describe this value. The keys of the maps are the named
 * fields, including the fields that a recursive reference leads to.
 */
function namedIn(value: unknown, described: Int64Map[]): unknown {
  if (!isNode(value)) return value;
  const maps = [...new Set(described.flatMap((int64s) => [int64s, ...int64s.recursions]))];
  const mapsOf = (name: string) => maps.flatMap(({ fields, rest }) => fields.get(name) ?? rest ?? []);
  if (Array.isArray(value)) return value.map((item, index) => namedIn(item, mapsOf(String(index))));
  const isFree = maps.every(({ fields }) => fields.size === 0);
  const entries = Object.entries(value).filter(([name]) => isFree || mapsOf(name).length > 0);
  return Object.fromEntries(entries.map(([name, inside]) => [name, namedIn(inside, mapsOf(name))]));
}

/** True if a body contains only objects, arrays, nulls and empty texts. */
const isEmpty = (body: unknown): boolean =>
  body === null || body === '' || (isNode(body) && Object.values(body).every(isEmpty));

/** Keywords that restrict a text so much that it cannot be a message for people. */
const NARROW = ['enum', 'const', 'format', 'pattern'];
/** Matches keywords with subschemas that describe the body itself, its fields or its items. */
const INSIDE = /^((all|any|one)Of|properties|additionalProperties|items|prefixItems)$/;

/** Returns the path of the first field of a body that may be any text, such as `body.message`. */
function findText(schema: Schema, at: string): string | undefined {
  const keywords = keywordsOf(schema);
  if ([keywords.type].flat().includes('string') && !NARROW.some((keyword) => keyword in keywords)) return at;
  const inside = subschemasOf(schema).filter(({ keyword }) => INSIDE.test(keyword));
  const steps = { value: () => '', field: (name: string) => `.${name}`, fields: () => '.*' };
  const texts = inside.map(({ subschema, keyword, name }) =>
    findText(subschema, `${at}${steps[scopeOf(keyword)](name)}`),
  );
  return texts.find(Boolean);
}
