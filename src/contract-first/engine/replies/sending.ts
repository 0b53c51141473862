/** Checks a handler's answer against the contract, and sends it by `reply.send`, so that plugins see it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Operation, Reply } from '../contract/contract.ts';
import { contentTypeOf, inAllTypes, PLAIN_JSON, replyFor, toMediaType } from '../contract/replies.ts';
import { ErrorParts } from '../errors/catalogue.ts';
import { toErrorText } from '../errors/error-body.ts';
import { joinLinks } from './deprecation.ts';
import { toPayload } from './raw-bodies.ts';
import { type CheckHeaders, toVary, UNSENDABLE } from './reply-headers.ts';
import type { ReplyWriter, WriterOf } from './reply-writers.ts';

/** The answer of a handler, without the types of its operation. */
export interface AnyAnswer {
  status: number;
  /**
   * The media type of the body. A handler must name it only if the contract declares several media types for the
   * status.
   */
  type?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** The cursor of the next page. The server makes the `Link` header from it. */
  next?: string | undefined;
}

const NO_HEADERS = {};

/** The form of an answer: how replies with one status and one media type are checked and written. */
interface Form extends ReplyWriter {
  checkHeaders: CheckHeaders | undefined;
  /** The value of `Content-Type`. */
  type: string;
  /** The declared reply, if its body is not JSON. Such a body is sent unchanged. */
  rawReply: Reply | undefined;
}

/**
 * Sends an answer. Returns undefined if the whole answer was sent synchronously. For a stream, or if a plugin adds an
 * asynchronous hook, returns the reply.
 */
type Send = (reply: FastifyReply, answer: AnyAnswer) => FastifyReply | undefined | Promise<FastifyReply>;

interface SendParts {
  writerOf: WriterOf;
  checkHeadersOf: (status: number) => CheckHeaders | undefined;
  /** The link to the successor, which every reply of a deprecated operation contains. */
  successor: string | undefined;
  /** Makes the `Link` to the page at this cursor. */
  toNextLink: (request: FastifyRequest, cursor: string) => string;
  logger: Logger;
}

export function buildSend(operation: Operation, parts: SendParts): Send {
  const { logger, successor, toNextLink } = parts;
  const formOf = buildFormOf(operation, parts);
  const head = { successor, toNextLink, varies: operation.replies.some(({ others }) => others.length > 0) };

  /**
   * Sends a body that is not JSON. The headers of the answer are set after the body was made: if making the body fails,
   * the error reply must not contain these headers.
   */
  async function sendRaw(reply: FastifyReply, answer: AnyAnswer, type: string, declared: Reply): Promise<FastifyReply> {
    const body = answer.body instanceof ErrorParts ? toErrorText(answer.body, declared) : answer.body;
    const payload = await toPayload(body, reply, logger);
    return addHead(reply, answer, head).type(type).send(payload);
  }

  return (reply, answer) => {
    const { type, rawReply, check, write, checkHeaders } = formOf(answer);
    // Headers of an error that `refuse` has made are not checked.
    if (checkHeaders && !(answer.body instanceof ErrorParts)) checkHeaders(answer.headers ?? NO_HEADERS);
    if (answer.body === undefined) addHead(reply, answer, head).send();
    else if (rawReply) return sendRaw(reply, answer, type, rawReply);
    else {
      const body = check(answer.body, reply.request);
      addHead(reply, answer, head).type(type).serializer(write).send(body);
    }
    return reply.sent ? undefined : reply;
  };
}

/**
 * Builds the function that finds the form of an answer. The form depends on the status, and on the media type if the
 * answer names one. A form is made when the first answer needs it.
 */
function buildFormOf({ id, replies }: Operation, { writerOf, checkHeadersOf }: SendParts): (answer: AnyAnswer) => Form {
  const forms = new Map<number | string, Form>();

  function addForm(key: number | string, { status, type }: AnyAnswer): Form {
    const declared = replyFor(replies, status);
    const reply = type === undefined ? declared : inType(declared, toMediaType(String(type)));
    if (type !== undefined && !reply) {
      throw new Error(`${id} has answered ${status} against the contract: it declares no type ${type} for it`);
    }
    const form = {
      ...writerOf(reply),
      checkHeaders: checkHeadersOf(status),
      type: contentTypeOf(reply?.type ?? PLAIN_JSON),
      rawReply: reply?.isJson === false ? reply : undefined,
    };
    forms.set(key, form);
    return form;
  }

  return (answer) => {
    const { status, type } = answer;
    const key = type === undefined ? status : `${status} ${toMediaType(String(type))}`;
    return forms.get(key) ?? addForm(key, answer);
  };
}

const inType = (declared: Reply | undefined, type: string): Reply | undefined =>
  declared?.hasContent ? inAllTypes([declared]).find((one) => one.type === type) : undefined;

interface Head extends Pick<SendParts, 'successor' | 'toNextLink'> {
  /**
   * True if the operation declares several media types for some status. Then every answer of the operation may depend
   * on `Accept`, even the 406 for a client that accepts none of the types.
   */
  varies: boolean;
}

function addHead(reply: FastifyReply, { status, headers, next }: AnyAnswer, head: Head): FastifyReply {
  const { successor, varies, toNextLink } = head;
  if (next !== undefined) reply.header('link', joinLinks(toNextLink(reply.request, next), successor));
  reply.code(status);
  for (const name in headers) {
    const value = headers[name] as string;
    if (UNSENDABLE.test(value)) {
      throw new Error(`The header ${name} was answered with ${JSON.stringify(value)}, which no header may have`);
    }
    if (/^vary$/i.test(name)) reply.header(name, toVary(reply, value));
    else reply.header(name, /^link$/i.test(name) ? joinLinks(value, successor) : value);
  }
  if (varies) reply.header('vary', toVary(reply, 'Accept'));
  return reply;
}
