/** What can go wrong, in the words of the contract: every failure that a client is told of is made here. */
import type { components } from './generated/contract.ts';

type Schemas = components['schemas'];
export type ErrorCode = Schemas['ErrorCode'];
export type ErrorBody = Schemas['Error'];

/** An answer of a handler that is the Error body. */
export interface ErrorAnswer<Status extends number> {
  status: Status;
  body: ErrorBody;
}

const answer = <Status extends number>(status: Status, code: ErrorCode, message: string): ErrorAnswer<Status> => ({
  status,
  body: { code, message, status },
});

/** 404: what the request names does not exist. */
export const notFound = (code: ErrorCode, message: string) => answer(404, code, message);

/** 400: a parameter or the body breaks a rule that no schema can state; `message` names the place, as `query.after …`. */
export const invalidRequest = (message: string) => answer(400, 'invalid_request', message);

/** What a Failure tells, in the order in which it takes it. */
export type Told = [status: number, code: ErrorCode, message: string];

/** A failure on the way to a handler, or out of it. `message` is for the client, `cause` for the log. */
export class Failure extends Error {
  override name = 'Failure';
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly code: ErrorCode;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    { headers = {}, cause }: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  get body(): ErrorBody {
    return { code: this.code, message: this.message, status: this.status };
  }
}

/** 503: a part that the service stands on cannot be reached now (RFC 9110, section 15.6.4). */
export function unavailable(cause: unknown): Failure {
  const headers = { 'retry-after': '1' };
  return new Failure(503, 'unavailable', 'The service is unavailable. Try again later.', { headers, cause });
}
