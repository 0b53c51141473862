/**
 * The catalogue of errors. The code and the status of every error that clients get are defined in this file, or in the
 * team's collections.
 */
import type { components, DomainErrors } from '../../registered.ts';
import { type Problem, problemAt, toErrorDetails } from './problem.ts';

interface OwnError {
  code: string;
  message: string;
  status: number;
}

/**
 * The type of error bodies: the contract's `Error` schema, if it contains the fields of OwnError. Otherwise OwnError
 * itself; the team's `errors.ts` then makes the body in the contract's form.
 */
export type ErrorBody = components extends { schemas: { Error: infer Declared extends OwnError } }
  ? Declared
  : OwnError;

interface Kind {
  /** The HTTP status of the reply. */
  status: number;
  /** The value of `Retry-After`, in seconds. */
  retryAfter?: number;
  /**
   * The message that `answer` sends with this code. By default, the message is the code as words, such as `Not found.`
   */
  message?: string;
}

/** Codes for errors of handlers and plugins, each named after an HTTP status (RFC 9110, section 15). */
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

/** The codes of all errors that the engine itself sends or offers to handlers. */
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

type KnownErrors = typeof ENGINE_ERRORS & DomainErrors;

export type ErrorCode = keyof KnownErrors & string;

/** The status of a code, as a literal type. */
export type StatusOf<Code extends ErrorCode> = KnownErrors[Code] extends { status: infer Status extends number }
  ? Status
  : number;

/**
 * Codes that the contract's `Error` schema allows, but that the engine does not define. The team's collections must
 * define them.
 */
export type MissingErrors = Record<Exclude<ErrorBody['code'], keyof typeof ENGINE_ERRORS>, Kind>;

/** The error codes of one service. Another service in the same process may use another status for the same code. */
export type Catalogue = Readonly<Record<string, Kind>>;

/**
 * Builds the catalogue of a service. The service's own codes come before the engine's codes: metrics count an error
 * status under the first code that has this status.
 */
export function buildCatalogue(domain: Readonly<Record<string, { errors: object }>>): Catalogue {
  const ofCollections = Object.values(domain).map(({ errors }) => errors);
  return { ...addErrors(Object.assign({}, ...ofCollections)), ...ENGINE_ERRORS };
}

/**
 * The codes of all services in the process. A new error first gets its status from this catalogue, because the service
 * is not known yet. When a service sends the error, `settle` corrects the status.
 */
let known: Catalogue = ENGINE_ERRORS;

/** Adds the codes of a service's collections to the codes of the process, and returns them unchanged. */
export function addErrors<const Errors extends Catalogue>(errors: Errors): Errors {
  known = { ...errors, ...known };
  return errors;
}

const kindIn = (catalogue: Catalogue, code: string): Kind => (catalogue[code] ?? known[code]) as Kind;

/** Returns the message of an error if the handler does not pass a message. */
export const messageOf = (code: ErrorCode): string =>
  kindIn(known, code).message ?? `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('_', ' ')}.`;

const CODES = new Map(Object.entries(ENGINE_ERRORS).map(([code, { status }]) => [status as number, code as ErrorCode]));

/**
 * Returns the engine's code for the HTTP status of a plugin's error. If several codes have this status, returns the
 * last of them, because it is the most general.
 */
export const codeOf = (status: number): ErrorCode | undefined => CODES.get(status);

/** The code, message and status of an error. `src/errors.ts` makes the body in the contract's form from these parts. */
export class ErrorParts<Code extends ErrorCode> {
  /**
   * A brand for the compiler, which distinguishes the result of `refuse` from an object with the same fields that a
   * handler has made itself.
   */
  declare private readonly isBranded: true;
  readonly code: Code;
  readonly message: string;
  readonly status: StatusOf<Code>;
  /** The problems that the message lists, as objects for programs. */
  declare readonly problems?: Problem[];

  /**
   * Pass `status` for an error of a plugin if its status differs from the status that the catalogue defines for the
   * code.
   */
  constructor(code: Code, message: string, { status, problems }: Pick<HttpErrorOptions, 'status' | 'problems'> = {}) {
    this.code = code;
    this.message = message;
    this.status = (status ?? kindIn(known, code).status) as StatusOf<Code>;
    if (problems) this.problems = problems;
  }
}

/**
 * An answer that is an error. The body is written by `toErrorBody` in the form of the contract's errors, so it fits the
 * contract if the operation declares the status, its range or `default`.
 */
export interface ErrorAnswer<Code extends ErrorCode> {
  status: StatusOf<Code>;
  body: ErrorParts<Code>;
}

/**
 * Makes an error for a handler to answer with: `refuse('gone', 'No longer.')` is a 410. `message` is for people,
 * `problems` is for programs.
 */
export function refuse<const Code extends string>(
  // If `Code` were constrained to `ErrorCode`, the compiler's message for a wrong code would begin with the answers of
  // all codes.
  code: Code extends ErrorCode ? Code : keyof DomainErrors | keyof typeof ENGINE_ERRORS,
  message: string,
  problems?: Problem[],
): Code extends ErrorCode ? ErrorAnswer<Code> : never;
export function refuse<Code extends ErrorCode>(code: Code, message: string, problems?: Problem[]): ErrorAnswer<Code> {
  return {
    status: kindIn(known, code).status as StatusOf<Code>,
    body: new ErrorParts(code, message, { problems }),
  };
}

/**
 * Corrects the status of an answer that `refuse` has made: sets the status that this service defines for the code.
 * Returns other answers unchanged.
 */
export function settle<Answer extends { status: number; body?: unknown }>(
  answer: Answer,
  catalogue: Catalogue,
): Answer {
  const { body } = answer;
  if (!(body instanceof ErrorParts)) return answer;
  const { status } = kindIn(catalogue, body.code);
  if (status === answer.status) return answer;
  return { ...answer, status, body: new ErrorParts(body.code, body.message, { ...body, status }) };
}

/**
 * Makes a 400 for a handler to answer with, if a value breaks a rule that the contract cannot express:
 * `refuseAt('/query/after', 'unknown', 'is not a cursor of this list')`.
 */
export const refuseAt = (pointer: string, code: string, words: string): ErrorAnswer<'invalid_request'> =>
  refuse('invalid_request', ...toErrorDetails([problemAt(pointer, code, words)]));

/** The handler of an operation that is not implemented yet: replies with 501. */
export async function notImplemented(): Promise<never> {
  throw new HttpError('not_implemented', 'This operation is not implemented yet.');
}

/** The arguments `code` and `message` of an HttpError. */
export type CodeAndMessage = [code: ErrorCode, message: string];

export const NO_ROUTE: CodeAndMessage = ['route_not_found', 'Nothing is served at this path.'];

export const TOO_LARGE: CodeAndMessage = ['payload_too_large', 'The body is larger than this operation takes.'];

interface HttpErrorOptions {
  headers?: Record<string, string>;
  cause?: unknown;
  /** The status, if it differs from the status that the catalogue defines for the code. */
  status?: number | undefined;
  problems?: Problem[] | undefined;
}

/**
 * An error reply from code that runs before or after the handler. `message` is sent to the client, `cause` is logged.
 */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly code: ErrorCode;
  status: number;
  readonly headers: Record<string, string>;
  readonly problems: Problem[] | undefined;
  readonly #isUsual: boolean;

  constructor(code: ErrorCode, message: string, { headers = {}, cause, status, problems }: HttpErrorOptions = {}) {
    super(message, { cause });
    const { retryAfter, status: usual } = kindIn(known, code);
    this.code = code;
    this.status = status ?? usual;
    this.#isUsual = status === undefined;
    this.problems = problems;
    this.headers = retryAfter === undefined ? headers : { 'retry-after': String(retryAfter), ...headers };
  }

  /**
   * Sets the status that this service's catalogue defines for the code. An error that was made with a different status
   * keeps it.
   */
  settle(catalogue: Catalogue): this {
    if (this.#isUsual) this.status = kindIn(catalogue, this.code).status;
    return this;
  }

  /** The status, under the name that Fastify's error handlers read. */
  get statusCode(): number {
    return this.status;
  }

  get body(): ErrorParts<ErrorCode> {
    return new ErrorParts(this.code, this.message, this);
  }
}

/** Makes the 400 that lists the problems found in a request. */
export function invalidRequest(found: Problem[], cause?: unknown): HttpError {
  const [message, problems] = toErrorDetails(found);
  return new HttpError('invalid_request', message, { problems, cause });
}
