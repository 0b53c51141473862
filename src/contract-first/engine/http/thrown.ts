/** Converts anything that a plugin, Fastify, a handler or the store throws to the error that the client gets. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { inspect } from 'node:util';
import { AlreadyDone, isInvalidValue, KeyReused } from '../../store/collection.ts';
import { type OutageKind, StoreUnavailable } from '../../store/store.ts';
import { type CodeAndMessage, codeOf, HttpError, NO_ROUTE, TOO_LARGE } from '../errors/catalogue.ts';
import { BAD_URL, MALFORMED, URI_TOO_LONG } from './malformed.ts';

const REUSED: CodeAndMessage = ['idempotency_key_reused', 'The Idempotency-Key was sent before with another body.'];
const DONE: CodeAndMessage = [
  'already_done',
  'This change was already made with this Idempotency-Key, but its reply can no longer be reproduced. Do not retry it with another key.',
];

/** The errors that clients get for each kind of outage of the store. */
const OUTAGE_ERRORS: Record<OutageKind, CodeAndMessage> = {
  unavailable: ['unavailable', 'The service is unavailable. Try again later.'],
  overloaded: ['overloaded', 'Too many writes are waiting. Try again later.'],
  ids_used_up: ['ids_used_up', 'Nothing more can be added: every id was given.'],
  outcome_unknown: [
    'outcome_unknown',
    'The storage failed while it wrote. Check whether it was done; with an Idempotency-Key, send it again.',
  ],
};

/** The errors that clients get instead of Fastify's own errors, by status. */
const OF_FASTIFY: Record<number, CodeAndMessage> = {
  400: MALFORMED,
  404: NO_ROUTE,
  413: TOO_LARGE,
  414: URI_TOO_LONG,
  415: ['unsupported_media_type', 'The body must be application/json.'],
};

/** The longest message of a plugin's error that is sent to clients, in characters. */
const MAX_MESSAGE_LENGTH = 400;

/** The fields of errors that Fastify and http-errors make. Any field may have any type. */
interface ErrorLike {
  statusCode?: unknown;
  status?: unknown;
  code?: unknown;
  message?: unknown;
  headers?: unknown;
  expose?: unknown;
  validation?: unknown;
}

/**
 * Converts a thrown value to the error that the client gets. `replyStatus` is the status that a plugin may have set on
 * the reply before it threw. `isReplayed` means that an earlier request already made the change: an internal error then
 * concerns the stored answer and would happen again at each retry, so it becomes a 409.
 */
export function toHttpError(thrown: unknown, replyStatus: number, isReplayed = false): HttpError {
  try {
    if (thrown instanceof HttpError) return thrown;
    if (thrown instanceof StoreUnavailable)
      return new HttpError(...OUTAGE_ERRORS[thrown.kind], { cause: thrown.cause ?? thrown });
    if (thrown instanceof KeyReused) return new HttpError(...REUSED);
    if (thrown instanceof AlreadyDone) return new HttpError(...DONE, { cause: thrown });
    if (isInvalidValue(thrown)) return new HttpError('invalid_request', thrown.message);
    const error = (thrown ?? {}) as ErrorLike;
    const status = [error.statusCode, error.status, replyStatus].find(isFailing) ?? 500;
    if (isReplayed && status === 500) return new HttpError(...DONE, { cause: toCause(thrown) });
    return new HttpError(...toCodeAndMessage(error, status), {
      cause: toCause(thrown),
      status,
      headers: toHeaders(error),
    });
  } catch (error) {
    // The thrown value contains a getter that itself throws.
    return new HttpError(...toGeneralError(500), { cause: toCause(error) });
  }
}

const toCause = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new TypeError(`${describeThrown(thrown)} was thrown`);

const isFailing = (status: unknown): status is number =>
  Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599;

function toCodeAndMessage(error: ErrorLike, status: number): CodeAndMessage {
  const { code, message, validation, expose, statusCode } = error;
  const own = String(code).startsWith('FST_') ? OF_FASTIFY[status] : undefined;
  // If the error itself names its status, its message was written for clients. Any other message may reveal too much.
  const isFrank = status < 500 && (status === statusCode || status === error.status);
  const said = typeof message === 'string' ? message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed() : '';
  if (code === 'FST_ERR_BAD_URL') return BAD_URL;
  if (status === 400 && Array.isArray(validation)) return ['invalid_request', said];
  if (/^FST_ERR_CTP_(INVALID|EMPTY)_JSON_BODY$/.test(String(code))) return ['malformed_json', said];
  if (own) return own;
  const [general, words] = toGeneralError(status);
  return [general, isFrank && said !== '' && expose !== false ? said : words];
}

function toGeneralError(status: number): CodeAndMessage {
  if (status === 503) return OUTAGE_ERRORS.unavailable;
  if (status >= 500) return [codeOf(status) ?? 'internal_error', 'The service failed. Its log has the cause.'];
  return [codeOf(status) ?? 'bad_request', `The request failed with status ${status}.`];
}

/** Returns the headers of an http-errors error, except those that cannot be sent. */
function toHeaders({ headers }: ErrorLike): Record<string, string> {
  if (typeof headers !== 'object' || headers === null) return {};
  const sendable = Object.entries(headers).filter(([name, value]) => isSendable(name, value) && !isOfBody(name));
  return Object.fromEntries(sendable.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

/** Describes a thrown value in one line, for the log. */
export function describeThrown(thrown: unknown): string {
  return inspect(thrown, { depth: 1, breakLength: Number.POSITIVE_INFINITY })
    .split('\n', 1)[0]
    ?.slice(0, MAX_MESSAGE_LENGTH) as string;
}

const OF_BODY = ['content-type', 'content-length', 'content-encoding', 'content-range', 'transfer-encoding', 'trailer'];

/**
 * True if the header describes the body of the reply that failed, so that it must not be sent with the error's body.
 */
export const isOfBody = (name: string) => OF_BODY.includes(name.toLowerCase());

/** True if Node accepts the name and value of a header (RFC 9110, section 5). */
export function isSendable(name: string, value: unknown): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value as string);
    return true;
  } catch {
    return false;
  }
}
