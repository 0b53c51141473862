/** Sends a handler's answer by Fastify's means, so that plugins see it: what the contract says of its status, headers and body. */
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { Operation, Reply } from '../contract/contract.ts';
import type { ToErrorBody } from '../contract/error-body.ts';
import { PLAIN_JSON } from '../contract/media-types.ts';
import { replyFor } from '../contract/replies.ts';
import { ErrorParts } from '../http/errors.ts';
import { JsonText } from '../json/json-text.ts';
import { joinLinks } from './deprecation.ts';
import { toPayload } from './passed-on-replies.ts';
import type { WriterOf } from './reply-writers.ts';

/** What routes know of any answer. */
export interface AnyAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** What all replies with a status have in common. */
interface Form {
  /** The value of `Content-Type`. */
  type: string;
  /** Whether it is not JSON, but what the handler answers, as it is. */
  isPassedOn: boolean;
  /** @throws Error where a body is not what the contract says */
  check: (body: unknown) => void;
  /** Writes a body that was checked, or is JSON already. */
  write: (body: unknown) => string;
}

/** Returns the reply where it is not sent yet: a plugin may take its time, or the body comes bit by bit. */
export type Send = (reply: FastifyReply, answer: AnyAnswer) => FastifyReply | undefined | Promise<FastifyReply>;

export interface SendParts {
  writerOf: WriterOf;
  toErrorBody: ToErrorBody;
  /** The link on every reply of a deprecated operation. */
  successor: string | undefined;
  logger: Logger;
}

export function buildSend({ replies }: Operation, { writerOf, toErrorBody, successor, logger }: SendParts): Send {
  const forms = new Map<number, Form>();

  function addForm(status: number): Form {
    const { check, write } = writerOf(status);
    const reply = replyFor(replies, status);
    const form = {
      type: toContentType(reply?.type ?? PLAIN_JSON),
      isPassedOn: reply?.isJson === false,
      check: (body: unknown) => body instanceof JsonText || check(body),
      write: (body: unknown) => (body instanceof JsonText ? body.text : write(body)),
    };
    forms.set(status, form);
    return form;
  }

  function addHead(reply: FastifyReply, { status, headers }: AnyAnswer): FastifyReply {
    reply.code(status);
    for (const name in headers) {
      const value = headers[name] as string;
      reply.header(name, /^link$/i.test(name) ? joinLinks(value, successor) : value);
    }
    return reply;
  }

  /** The head comes last: an error before it is sent without these headers. */
  async function sendPassedOn(reply: FastifyReply, answer: AnyAnswer, type: string): Promise<FastifyReply> {
    const payload = await toPayload(answer.body, reply, logger);
    return addHead(reply, answer).type(type).send(payload);
  }

  return (reply, answer) => {
    const { status } = answer;
    // What `refuse` makes, in the contract's form.
    const body = answer.body instanceof ErrorParts ? toErrorBody(answer.body) : answer.body;
    const { type, isPassedOn, check, write } = forms.get(status) ?? addForm(status);
    if (body === undefined) addHead(reply, answer).send();
    else if (isPassedOn) return sendPassedOn(reply, answer, type);
    else {
      check(body);
      addHead(reply, answer).type(type).serializer(write).send(body);
    }
    return reply.sent ? undefined : reply;
  };
}

const toContentType = (type: Reply['type']) =>
  type === PLAIN_JSON || type.startsWith('text/') ? `${type}; charset=utf-8` : type;
