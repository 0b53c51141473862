/**
 * Makes the bodies of the server's own errors: with the team's `errors.ts`, or in the default form. Declares the types
 * for `errors.ts`.
 */
import { stringify } from 'lossless-json';
import type { Logger } from 'pino';
import type { operations } from '../../registered.ts';
import type { AnyContract, Operation, Reply } from '../contract/contract.ts';
import { contentTypeOf, PLAIN_JSON, replyFor } from '../contract/replies.ts';
import type { InReply, IsJson, OperationId } from '../routes/read-write-only.ts';
import { keywordsOf } from '../schema/json.ts';
import type { ErrorCode, HttpError, StatusOf } from './catalogue.ts';
import type { Problem } from './problem.ts';

export interface OwnError {
  /** A code of the catalogue in `engine/errors/catalogue.ts`, or of your domain. */
  code: ErrorCode;
  /** The message for people. */
  message: string;
  status: number;
  /** The problems that the message lists, as objects for programs; undefined if the error lists none. */
  problems: Problem[] | undefined;
  /** The id of the request, which is in the reply's `X-Request-Id` and in the log. */
  requestId: string;
  /** The operationId of the request. Undefined if the request is malformed, or if its path belongs to no operation. */
  operation: OperationId | undefined;
  /**
   * The key of the reply in the contract: `404`, `4XX` or `default`. Undefined if the contract does not declare this
   * status.
   */
  reply: string | undefined;
}

/** Makes the default body, which is sent if the team does not write an `errors.ts`. */
export function toErrorBody({ code, message, status, problems }: OwnError) {
  return problems ? { code, message, status, problems } : { code, message, status };
}

/**
 * Makes the body of an error. Replies with a text body do not need this function, because their body is the message.
 */
export type ToErrorBody = (error: OwnError) => OwnErrorBody;

/** The union of the types of all JSON error bodies in the contract; `unknown` if the contract declares none. */
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

/** How the body of an error with one status is made and written. */
export interface ErrorForm {
  toBody: (error: Parts, requestId: string) => unknown;
  /** The value of `Content-Type`. */
  type: string;
  write: (body: unknown) => string;
}

/** Returns the error form for a status. */
export type ErrorFormOf = (status: number) => ErrorForm;

/**
 * Returns the media type of errors with a status that the contract does not declare: the media type of all JSON error
 * replies of the contract if they share one type, and otherwise plain JSON.
 */
export function errorTypeOf({ operations }: Pick<AnyContract, 'operations'>): string {
  const replies = [...operations.values()].flatMap((operation) => operation.replies);
  const errors = replies.filter(({ status, hasContent, isJson }) => /^[45d]/i.test(status) && hasContent && isJson);
  const [type = PLAIN_JSON, ...others] = new Set(errors.map((reply) => reply.type));
  return others.length > 0 ? PLAIN_JSON : type;
}

/**
 * Builds the function that returns the error form for each status of an operation, or of requests without an operation.
 * `errorType` is the media type of errors with an undeclared status.
 */
export function buildErrorFormOf(
  toErrorBody: ToErrorBody,
  { id, replies }: Partial<Operation> = {},
  errorType = PLAIN_JSON,
): ErrorFormOf {
  const forms = new Map<number, ErrorForm>();

  function addForm(status: number): ErrorForm {
    const reply = replies && replyFor(replies, status);
    const form = {
      toBody: buildToBody(toErrorBody, id, reply),
      type: contentTypeOf(reply?.hasContent ? reply.type : errorType),
      write: reply?.isJson === false ? String : writeJson,
    };
    forms.set(status, form);
    return form;
  }

  return (status) => forms.get(status) ?? addForm(status);
}

/**
 * Writes a body as JSON. The slower writer `stringify` is only used if JSON.stringify throws, for example for a bigint.
 */
function writeJson(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch {
    return stringify(body) as string;
  }
}

/** Builds the function that makes the error bodies of one reply. */
export function buildToBody(
  toErrorBody: ToErrorBody,
  id: string | undefined,
  reply: Reply | undefined,
): ErrorForm['toBody'] {
  if (reply && !reply.isJson) return (parts) => toErrorText(parts, reply);
  const where = { operation: id as OwnError['operation'], reply: reply?.status };
  return ({ code, message, status, problems }, requestId) =>
    toErrorBody({ code, message, status, problems, requestId, ...where });
}

/**
 * Returns the body of an error reply with text content: the message, truncated to the reply's `maxLength`. If the
 * reply's schema allows only certain texts (`const` or `enum`), returns the first of these texts.
 */
export function toErrorText({ message }: Pick<OwnError, 'message'>, { type, schema }: Reply): string {
  const { enum: listed, const: only = listed?.[0], maxLength } = keywordsOf(schema);
  if (only !== undefined) return String(only);
  const text = type === 'text/html' ? message.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`) : message;
  // JSON Schema counts characters, not UTF-16 code units.
  return [...text].slice(0, maxLength).join('');
}

/** How an operation sends its error replies, whether the engine, a handler or a plugin has caused the error. */
export interface FailureForm {
  formOf: ErrorFormOf | undefined;
  /** The headers of every error reply, including errors that a plugin sends before the operation runs. */
  headers: Record<string, string>;
  /** The challenge for a 401 of a plugin that does not set one (RFC 9110, section 11.6.1). */
  challenge: string | undefined;
  /**
   * The value of `Accept` in a 415: the media types of the operation's body (RFC 9110, section 15.5.16). Undefined if
   * the operation takes no body.
   */
  accept: string | undefined;
}

interface RenderedError extends Pick<ErrorForm, 'type' | 'write'> {
  body: unknown;
  /** The written body, which is sent unless a plugin replaces it. */
  text: string;
}

/** Makes the reply to an error. Without `formOf`, the request did not match any operation. */
export type RenderError = (failure: HttpError, requestId: string, formOf?: ErrorFormOf) => RenderedError;

const JSON_FORM = { type: contentTypeOf(PLAIN_JSON), write: JSON.stringify };
const NO_TEXT = new Error('the body that it makes cannot be written');

/**
 * Builds the function that makes the body of an error. If the team's `errors.ts` throws, the client gets the error in
 * the default form.
 */
export function buildRenderError(logger: Logger, formOfAll: ErrorFormOf): RenderError {
  return (failure, requestId, formOf = formOfAll) => {
    const { body } = failure;
    try {
      const { toBody, type, write } = formOf(failure.status);
      const made = toBody(body, requestId);
      const text: string | undefined = write(made);
      if (text === undefined) throw NO_TEXT;
      return { body: made, text, type, write };
    } catch (err) {
      logger.error({ reqId: requestId, err }, 'src/errors.ts has failed: an error was sent in another form');
      return { body, text: JSON.stringify(body), ...JSON_FORM };
    }
  };
}
