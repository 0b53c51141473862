/** The bodies of the server's own errors: as they are by default, and the types of a team's `errors.ts`, which writes others. */
import type { operations } from '../registered.ts';
import type { ErrorCode, StatusOf } from './errors.ts';
import type { Problem } from './problem.ts';
import type { InReply, IsJson, OperationId } from './routes/directed.ts';

export interface OwnError {
  /** A code of the catalogue in `engine/errors.ts`, or of your domain. */
  code: ErrorCode;
  /** For people. */
  message: string;
  status: number;
  /** The message's problems, for programs, if the request breaks the contract. */
  problems: Problem[] | undefined;
  /** The id in the reply's `X-Request-Id`, and in the log. */
  requestId: string;
  /** Undefined if the request has none: an unknown path, or malformed HTTP. */
  operation: OperationId | undefined;
  /** The contract's key of the reply: `404`, `4XX` or `default`; undefined if it declares none for this status. */
  reply: string | undefined;
}

/** The body without an `errors.ts`, as our first contract has it. */
export function toErrorBody({ code, message, status, problems }: OwnError) {
  return problems ? { code, message, status, problems } : { code, message, status };
}

/** Not called for errors that are sent as text: those are the message alone. */
export type ToErrorBody = (error: OwnError) => OwnErrorBody;

/** The JSON bodies of all replies that may be errors; `unknown` if the contract declares none. */
export type OwnErrorBody = ErrorBodyOf<operations>;
type ErrorBodyOf<All> = [InErrors<All>] extends [never] ? unknown : InErrors<All>;
type InErrors<All> = {
  [Id in keyof All]: All[Id] extends { responses: infer Replies } ? ErrorsIn<Replies> : never;
}[keyof All];
type ErrorsIn<Replies> = { [Key in keyof Replies]: Key extends ErrorKey ? JsonIn<Replies[Key]> : never }[keyof Replies];
type ErrorKey = 'default' | `${4 | 5}${'XX' | 'xx'}` | StatusOf<ErrorCode>;
type JsonIn<Reply> = Reply extends { content: infer Content }
  ? { [Type in keyof Content]: IsJson<Type> extends true ? InReply<Content[Type]> : never }[keyof Content]
  : never;

type Parts = Pick<OwnError, 'code' | 'message' | 'status'> & { problems?: Problem[] };

/** How the errors of one reply are written. */
export interface ErrorForm {
  toBody: (error: Parts, requestId: string) => unknown;
  /** The value of `Content-Type`. */
  type: string;
  write: (body: unknown) => string;
}

/** Returns the form by the status of the reply. */
export type ErrorFormOf = (status: number) => ErrorForm;
