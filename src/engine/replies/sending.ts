/** Sends a handler's answer by `reply.send`, so that plugins see it, after checking it against the contract. */
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { Operation, Reply } from '../contract/contract.ts';
import { PLAIN_JSON, toContentType } from '../contract/media-types.ts';
import { replyFor } from '../contract/replies.ts';
import { ErrorParts } from '../errors.ts';
import { joinLinks } from './deprecation.ts';
import { toErrorText } from './error-bodies.ts';
import { toPayload } from './raw-bodies.ts';
import { type CheckHeaders, UNSENDABLE } from './reply-headers.ts';
import type { ReplyWriter, WriterOf } from './reply-writers.ts';

/** The answer of any handler, as routes know it. */
export interface AnyAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

const NONE = {};

/** The parts that all replies with a status have in common. */
interface Form extends ReplyWriter {
  checkHeaders: CheckHeaders | undefined;
  /** The value of `Content-Type`. */
  type: string;
  /** The declared reply, if its body is not JSON, and so sent as it is. */
  rawReply: Reply | undefined;
}

/** Returns the reply if it is not sent yet, as with an asynchronous hook of a plugin, or a stream. */
export type Send = (reply: FastifyReply, answer: AnyAnswer) => FastifyReply | undefined | Promise<FastifyReply>;

export interface SendParts {
  writerOf: WriterOf;
  checkHeadersOf: (status: number) => CheckHeaders | undefined;
  /** The link on every reply of a deprecated operation. */
  successor: string | undefined;
  logger: Logger;
}

export function buildSend({ replies }: Operation, { writerOf, checkHeadersOf, successor, logger }: SendParts): Send {
  const forms = new Map<number, Form>();

  function addForm(status: number): Form {
    const reply = replyFor(replies, status);
    const type = toContentType(reply?.type ?? PLAIN_JSON);
    const rawReply = reply?.isJson === false ? reply : undefined;
    const form = { ...writerOf(status), checkHeaders: checkHeadersOf(status), type, rawReply };
    forms.set(status, form);
    return form;
  }

  /** Sets the headers last: if the body fails, the error is sent without them. */
  async function sendRaw(reply: FastifyReply, answer: AnyAnswer, type: string, declared: Reply): Promise<FastifyReply> {
    const body = answer.body instanceof ErrorParts ? toErrorText(answer.body, declared) : answer.body;
    const payload = await toPayload(body, reply, logger);
    return addHead(reply, answer, successor).type(type).send(payload);
  }

  return (reply, answer) => {
    const { type, rawReply, check, write, checkHeaders } = forms.get(answer.status) ?? addForm(answer.status);
    // The server's own errors, made by `refuse`, are not checked.
    if (checkHeaders && !(answer.body instanceof ErrorParts)) checkHeaders(answer.headers ?? NONE);
    if (answer.body === undefined) addHead(reply, answer, successor).send();
    else if (rawReply) return sendRaw(reply, answer, type, rawReply);
    else {
      const body = check(answer.body, reply.request);
      addHead(reply, answer, successor).type(type).serializer(write).send(body);
    }
    return reply.sent ? undefined : reply;
  };
}

function addHead(reply: FastifyReply, { status, headers }: AnyAnswer, successor: string | undefined): FastifyReply {
  reply.code(status);
  for (const name in headers) {
    const value = headers[name] as string;
    if (UNSENDABLE.test(value)) {
      throw new Error(`The header ${name} was answered with ${JSON.stringify(value)}, which no header may have`);
    }
    reply.header(name, /^link$/i.test(name) ? joinLinks(value, successor) : value);
  }
  return reply;
}
