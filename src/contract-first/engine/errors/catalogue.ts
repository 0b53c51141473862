/** The catalogue of errors: the code and status of every error that clients get are from here, or from the domain. */
import type { components, DomainErrors } from '../../registered.ts';
import { type Problem, problemAt, toErrorDetails } from './problem.ts';

interface OwnError {
  code: string;
  message: string;
  status: number;
}

/** The contract's `Error` schema, if it has these fields; otherwise ours, which `src/errors.ts` converts. */
export type ErrorBody = components extends { schemas: { Error: infer Declared extends OwnError } }
  ? Declared
  : OwnError;

interface Kind {
  /** The HTTP status of the reply. */
  status: number;
  /** After how many seconds to try again. */
  retryAfter?: number;
}

/** Codes for refusals by handlers and plugins, named after their status (RFC 9110, section 15). */
export const GENERAL = {
  bad_request: { status: 400 },
  payment_required: { status: 402 },
  not_found: { status: 404 },
  not_acceptable: { status: 406 },
  conflict: { status: 409 },
  length_required: { status: 411 },
  precondition_failed: { status: 412 },
  range_not_satisfiable: { status: 416 },
  misdirected_request: { status: 421 },
  unprocessable_content: { status: 422 },
  locked: { status: 423 },
  failed_dependency: { status: 424 },
  too_early: { status: 425 },
  upgrade_required: { status: 426 },
  precondition_required: { status: 428 },
  unavailable_for_legal_reasons: { status: 451 },
  bad_gateway: { status: 502 },
  gateway_timeout: { status: 504 },
  insufficient_storage: { status: 507 },
} as const satisfies Record<string, Kind>;

/** The engine's own codes. */
const ENGINE_ERRORS = {
  invalid_request: { status: 400 },
  malformed_json: { status: 400 },
  malformed_request: { status: 400 },
  unauthorized: { status: 401 },
  forbidden: { status: 403 },
  route_not_found: { status: 404 },
  method_not_allowed: { status: 405 },
  request_timeout: { status: 408 },
  already_done: { status: 409 },
  gone: { status: 410 },
  payload_too_large: { status: 413 },
  uri_too_long: { status: 414 },
  unsupported_media_type: { status: 415 },
  expectation_failed: { status: 417 },
  idempotency_key_reused: { status: 422 },
  rate_limited: { status: 429 },
  headers_too_large: { status: 431 },
  internal_error: { status: 500 },
  not_implemented: { status: 501 },
  outcome_unknown: { status: 503, retryAfter: 1 },
  overloaded: { status: 503, retryAfter: 1 },
  unavailable: { status: 503, retryAfter: 1 },
  http_version_not_supported: { status: 505 },
  ids_used_up: { status: 507 },
  ...GENERAL,
} as const satisfies Record<string, Kind>;

type Catalogue = typeof ENGINE_ERRORS & DomainErrors;

export type ErrorCode = keyof Catalogue & string;

/** The status of a code, as a constant. */
export type StatusOf<Code extends ErrorCode> = Catalogue[Code] extends { status: infer Status extends number }
  ? Status
  : number;

/** The codes of the contract's `Error` schema that are not the engine's own: the collections have to declare them. */
export type MissingErrors = Record<Exclude<ErrorBody['code'], keyof typeof ENGINE_ERRORS>, Kind>;

let catalogue: Readonly<Record<string, Kind>> = ENGINE_ERRORS;

/** Adds the codes of the collections, before the engine's own: a status is counted under its first code. Returns them. */
export function addErrors<const Errors extends Readonly<Record<string, Kind>>>(errors: Errors): Errors {
  catalogue = { ...errors, ...catalogue };
  return errors;
}

/** All codes, those of the collections first. */
export const allErrorCodes = () => Object.keys(catalogue) as ErrorCode[];

export const errorKindOf = (code: ErrorCode): Kind => catalogue[code] as Kind;

const CODES = new Map(Object.entries(ENGINE_ERRORS).map(([code, { status }]) => [status as number, code as ErrorCode]));

/** The engine's own code for a status with which a plugin refuses: of several, the most general one, which is the last. */
export const codeOf = (status: number): ErrorCode | undefined => CODES.get(status);

/** Code, message and status of an error, before `src/errors.ts` gives them the contract's form. */
export class ErrorParts<Code extends ErrorCode> {
  /** A brand for the compiler: an object with the same fields is a body that the handler made itself. */
  declare private readonly isBranded: true;
  readonly code: Code;
  readonly message: string;
  readonly status: StatusOf<Code>;
  /** The message's problems, for programs. */
  declare readonly problems?: Problem[];

  /** A plugin may refuse with another status than the usual one of the code. */
  constructor(code: Code, message: string, { status, problems }: Pick<HttpErrorOptions, 'status' | 'problems'> = {}) {
    this.code = code;
    this.message = message;
    this.status = (status ?? errorKindOf(code).status) as StatusOf<Code>;
    if (problems) this.problems = problems;
  }
}

/**
 * A handler's answer with an error. `toErrorBody` makes its body, so it fits wherever the operation declares the status,
 * its range or `default`, whatever form the contract's errors have.
 */
export interface ErrorAnswer<Code extends ErrorCode> {
  status: StatusOf<Code>;
  body: ErrorParts<Code>;
}

/** Makes a handler's answer: `refuse('gone', 'No longer.')` is a 410. `message` is for people, `problems` for programs. */
export function refuse<const Code extends string>(
  // With ErrorCode as the constraint, a wrong code would first be reported as faults of the answers with all codes.
  code: Code extends ErrorCode ? Code : keyof DomainErrors | keyof typeof ENGINE_ERRORS,
  message: string,
  problems?: Problem[],
): Code extends ErrorCode ? ErrorAnswer<Code> : never;
export function refuse<Code extends ErrorCode>(code: Code, message: string, problems?: Problem[]): ErrorAnswer<Code> {
  return {
    status: errorKindOf(code).status as StatusOf<Code>,
    body: new ErrorParts(code, message, { problems }),
  };
}

/**
 * Makes a handler's answer for a value that breaks a rule which the contract cannot express:
 * `refuseAt('/query/after', 'unknown', 'is no cursor of this list')`.
 */
export const refuseAt = (pointer: string, code: string, words: string): ErrorAnswer<'invalid_request'> =>
  refuse('invalid_request', ...toErrorDetails([problemAt(pointer, code, words)]));

/** The handler of an operation that is not implemented yet: a 501. */
export async function notImplemented(): Promise<never> {
  throw new HttpError('not_implemented', 'This operation is not implemented yet.');
}

/** The first two arguments of an HttpError. */
export type CodeAndMessage = [code: ErrorCode, message: string];

export const NO_ROUTE: CodeAndMessage = ['route_not_found', 'Nothing is served at this path.'];

export const TOO_LARGE: CodeAndMessage = ['payload_too_large', 'The body is larger than this operation takes.'];

interface HttpErrorOptions {
  headers?: Record<string, string>;
  cause?: unknown;
  /** The status, if it is not the usual one of the code. */
  status?: number | undefined;
  problems?: Problem[] | undefined;
}

/** An error before or after the handler. `message` is for the client, `cause` for the log. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly problems: Problem[] | undefined;

  constructor(code: ErrorCode, message: string, { headers = {}, cause, status, problems }: HttpErrorOptions = {}) {
    super(message, { cause });
    const { retryAfter, status: usual } = errorKindOf(code);
    this.code = code;
    this.status = status ?? usual;
    this.problems = problems;
    this.headers = retryAfter === undefined ? headers : { 'retry-after': String(retryAfter), ...headers };
  }

  /** For error handlers that are written as Fastify's documents say. */
  get statusCode(): number {
    return this.status;
  }

  get body(): ErrorParts<ErrorCode> {
    return new ErrorParts(this.code, this.message, this);
  }
}

/** The error for problems that are found after the request's check. */
export function invalidRequest(found: Problem[], cause?: unknown): HttpError {
  const [message, problems] = toErrorDetails(found);
  return new HttpError('invalid_request', message, { problems, cause });
}
