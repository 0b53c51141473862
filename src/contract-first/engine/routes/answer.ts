/**
 * Converts the result of a collection's method to the answer of a handler, for handlers that read or change one record.
 */
import { type Idempotency, isRefused, type Put, type Refused } from '../../store/collection.ts';
import { type ErrorAnswer, type ErrorCode, type ErrorParts, messageOf, refuse } from '../errors/catalogue.ts';
import type { AnyAnswer } from '../replies/sending.ts';
import { isTagIn } from '../requests/request-headers.ts';

/**
 * The status of a successful answer. For `put`: the status if the record was replaced, and the status if it was
 * created.
 */
type Statuses = number | readonly [replaced: number, made: number];

/**
 * The options of `answer`, which select the answer that clients get for each result of the method. If an option is
 * omitted, its type parameter is `never`.
 */
interface Meaning<Found, Own, Absent, Codes, Tag, Unless, Key> {
  /**
   * The code of the error if the record does not exist, or a function that makes the error: `() =>
   * refuse('order_not_found', 'No such order.')`.
   */
  absent?: Absent | (() => ErrorWith<Absent>);
  /**
   * The codes of errors for refused changes, by the reason: `{ referenced: 'tool_has_loans' }`. Reasons that are
   * themselves codes of the catalogue may be omitted.
   */
  refused?: Codes;
  headers?: Own | ((found: Found) => Own);
  /** Makes the header `ETag` from the record. */
  tag?: (found: Found) => Tag;
  /**
   * The request's header `If-None-Match`. If it contains the record's entity tag, the answer is 304 (RFC 9110, section
   * 13.1.2).
   */
  unless?: Unless | undefined;
  /**
   * The `idempotency` of the handler's argument. If an earlier request already made the change, the answer contains the
   * header `Idempotency-Replayed: true`.
   */
  idempotency?: Key;
}
/** The result of `refuse`, written so that the compiler can infer the code. */
interface ErrorWith<Code> {
  status: number;
  body: ErrorParts<ErrorCode> & { readonly code: Code };
}
type Headers = Readonly<Record<string, string>>;
type NoHeaders = Record<never, never>;

type FoundIn<Result, Status> = Status extends readonly unknown[]
  ? Result extends Put<infer Found>
    ? Found
    : never
  : Exclude<Result, undefined | boolean | Refused>;
type WhyIn<Result> = Result extends Refused<infer Why> ? Why : never;

/** The mistake in a call of `answer`, as text for the compiler's message. `never` if the call is correct. */
type FaultOf<Result, Absent, Codes> = 0 extends 1 & Result
  ? never
  : Exclude<Absent | Codes[keyof Codes], ErrorCode> extends infer Code extends string
    ? [Code] extends [never]
      ? GapOf<Result, Absent, Codes>
      : `${Code} is not a code of the catalogue of errors`
    : never;
type GapOf<Result, Absent, Codes> = [Extract<Result, undefined | false>] extends [never]
  ? Uncoded<Result, Codes>
  : [Absent] extends [never]
    ? 'absent is missing: there may be no such record'
    : Uncoded<Result, Codes>;
type Uncoded<Result, Codes> =
  Exclude<WhyIn<Result>, ErrorCode | keyof Codes> extends infer Why extends string
    ? `refused.${Why} is missing: the change may be refused with it`
    : never;

/**
 * The type that a wrong call of `answer` would need. The compiler's message contains this type, and so names the
 * mistake.
 */
interface UnfitAnswer<Fault> {
  readonly refused: Fault;
}
type Faultless<Fault> = [Fault] extends [never] ? unknown : UnfitAnswer<Fault>;

type AnswerOf<Status, Result, Own, Absent, Codes, Tag, Unless, Key> =
  | Success<Status extends readonly (infer One)[] ? One : Status, FoundIn<Result, Status>, AllHeaders<Own, Tag, Key>>
  | ErrorOf<Absent>
  | ErrorOf<CodeOf<WhyIn<Result>, Codes>>
  | ([Unless] extends [never] ? never : { status: 304; headers: { ETag: string } });
type Success<Status, Found, Own> = Flat<
  ([Found] extends [never] ? { status: Status } : { status: Status; body: Found }) &
    ([keyof Own] extends [never] ? unknown : { headers: Flat<Own> })
>;
type ErrorOf<Code> = Code extends ErrorCode ? ErrorAnswer<Code> : never;
type CodeOf<Why, Codes> = Why extends keyof Codes ? Codes[Why] : Why;
type AllHeaders<Own, Tag, Key> = Own &
  ([Tag] extends [never] ? unknown : { ETag: string }) &
  ([Key] extends [never] ? unknown : { 'Idempotency-Replayed'?: 'true' });
type Flat<T> = { [Key in keyof T]: T[Key] };

/**
 * Makes an answer: `answer(200, await orders.get(id), { absent: 'order_not_found' })`. The body is the record that a
 * read or a change has returned; the answer to a `delete` contains no body. Pass `absent` if the record may not exist.
 * Pass `refused` if the change may be refused for a reason that is not itself a code of the catalogue.
 */
export function answer<
  const Status extends Statuses,
  Result,
  const Own extends Headers = NoHeaders,
  const Absent extends string = never,
  const Codes extends Headers = NoHeaders,
  Tag extends string = never,
  Unless extends string = never,
  Key extends Idempotency | undefined = never,
>(
  status: Status & Faultless<FaultOf<Result, Absent, Codes>>,
  result: Result,
  meaning?: Meaning<FoundIn<Result, Status>, Own, Absent, Codes, Tag, Unless, Key>,
): [FaultOf<Result, Absent, Codes>] extends [never]
  ? AnswerOf<Status, Result, Own, Absent, Codes, Tag, Unless, Key>
  : never;
export function answer(
  status: Statuses,
  result: unknown,
  meaning: Meaning<never, Headers, string, Headers, string, string, Idempotency | undefined> = {},
): AnyAnswer {
  if (result === undefined || result === false) {
    const { absent } = meaning;
    return typeof absent === 'function' ? absent() : toError(absent);
  }
  if (isRefused(result as Refused)) {
    const { refused: why } = result as Refused;
    return toError(meaning.refused?.[why] ?? why);
  }
  const { headers, tag, unless, idempotency } = meaning;
  const { record, isNew } = typeof status === 'number' ? { record: result, isNew: false } : (result as Put<unknown>);
  const sent = typeof status === 'number' ? status : status[isNew ? 1 : 0];
  const found = record as never;
  const ETag = tag?.(found);
  if (ETag !== undefined && isTagIn(unless, ETag)) return { status: 304, headers: { ETag } };
  let all = typeof headers === 'function' ? headers(found) : (headers ?? NO_HEADERS);
  if (ETag !== undefined) all = { ...all, ETag };
  if (idempotency?.isReplayed) all = { ...all, 'Idempotency-Replayed': 'true' };
  return result === true ? { status: sent, headers: all } : { status: sent, headers: all, body: found };
}

const NO_HEADERS: Headers = {};

const toError = (code: unknown): AnyAnswer => refuse(code as 'not_found', messageOf(code as ErrorCode));
