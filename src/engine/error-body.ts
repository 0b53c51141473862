/** How a team's `errors.ts` writes the errors of the server itself. */
import type { operations } from '../generated/contract.ts';
import type { CATALOGUE, ErrorCode } from './errors.ts';
import type { Problem } from './problem.ts';
import type { InReply, IsJson, OperationId } from './routes/directed.ts';

export interface OwnError {
  /** One of the catalogue in `engine/errors.ts`, or of your domain. */
  code: ErrorCode;
  /** For people. */
  message: string;
  status: number;
  /** Says the same as the message, for programs, where a request breaks the contract. */
  problems: Problem[] | undefined;
  /** The reply has it as `X-Request-Id`, and the log. */
  requestId: string;
  /** Undefined where a request is for none: another path, or no HTTP at all. */
  operation: OperationId | undefined;
  /** The reply of the operation, as the contract has it: `404`, `4XX` or `default`; undefined where it has none for this status. */
  reply: string | undefined;
}

/** Errors that are sent as text are their message. */
export type ToErrorBody = (error: OwnError) => OwnErrorBody;

/** The body of any reply that may be an error, as JSON; anything where the contract declares none. */
export type OwnErrorBody = ErrorBodyOf<operations>;
type ErrorBodyOf<All> = [InErrors<All>] extends [never] ? unknown : InErrors<All>;
type InErrors<All> = {
  [Id in keyof All]: All[Id] extends { responses: infer Replies } ? ErrorsIn<Replies> : never;
}[keyof All];
type ErrorsIn<Replies> = { [Key in keyof Replies]: Key extends ErrorKey ? JsonIn<Replies[Key]> : never }[keyof Replies];
type ErrorKey = 'default' | `${4 | 5}${'XX' | 'xx'}` | (typeof CATALOGUE)[ErrorCode]['status'];
type JsonIn<Reply> = Reply extends { content: infer Content }
  ? { [Type in keyof Content]: IsJson<Type> extends true ? InReply<Content[Type]> : never }[keyof Content]
  : never;

type Parts = Pick<OwnError, 'code' | 'message' | 'status'> & { problems?: Problem[] };

/** How an error is written where it stands. */
export interface ErrorForm {
  toBody: (error: Parts, requestId: string) => unknown;
  /** The value of `Content-Type`. */
  type: string;
  write: (body: unknown) => string;
}

/** By the status of its reply. */
export type ErrorFormOf = (status: number) => ErrorForm;
