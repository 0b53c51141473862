/** Sends error replies without Fastify: to requests over the limits, and to bytes that are not HTTP. */
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import type { Logger } from 'pino';
import type { HttpError } from '../../errors/catalogue.ts';
import type { RenderError } from '../../errors/error-body.ts';
import type { Counts } from '../log/request-log.ts';
import { toMalformed } from '../malformed.ts';
import { httpConnectionOf, linger } from './connection.ts';
import { HttpRequest } from './request.ts';
import { HttpResponse } from './response.ts';

export interface RawRepliesOptions {
  counts: Counts;
  logger: Logger;
  nextRequestId: () => string;
  renderError: RenderError;
  /**
   * The CORS headers of replies that are sent before any hook: to malformed HTTP, unreadable URLs, and requests over
   * the limits.
   */
  bareHeaders: Readonly<Record<string, string>>;
}

export class RawReplies {
  readonly #options: RawRepliesOptions;

  constructor(options: RawRepliesOptions) {
    this.#options = options;
  }

  /**
   * The function for Fastify's option `clientErrorHandler`, which sends the reply to a request that Node's HTTP server
   * rejects because the request is malformed or incomplete.
   */
  onClientError(error: ConnectionError, socket: Socket): void {
    const connection = httpConnectionOf(socket);
    // Node emits this event again at each check of timeouts, and also for bytes that arrive while the connection
    // closes. Such further events are ignored, so that they cannot cut off a reply that the client has not read yet.
    if (connection.isMalformed || socket.writableEnded) return;
    connection.isMalformed = true;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { response, isLast } = connection;
    connection.stopReading();
    const failure = toMalformed(error);
    if (response && !response.req.complete) this.#endBody(response as HttpResponse, failure, error.code);
    // Bytes that follow the last request of a connection get no reply.
    else if (!isLast && error.code !== 'HPE_CLOSED_CONNECTION')
      this.answerMalformed(socket, failure, { ip: socket.remoteAddress, code: error.code });
  }

  /** Sends the error reply to a request without Fastify. */
  send(response: HttpResponse, failure: HttpError, requestId = this.#options.nextRequestId()): void {
    const { renderError, bareHeaders, counts } = this.#options;
    const { text, type } = renderError(failure, requestId);
    const headers = {
      ...bareHeaders,
      'x-request-id': requestId,
      ...failure.headers,
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    };
    counts.countUnread(failure.code);
    response.writeHead(failure.status, headers).end(text);
  }

  /**
   * Sends an error reply to bytes that Node does not recognize as a request. The reply is sent after the replies to all
   * earlier requests of the connection.
   */
  answerMalformed(socket: Socket, failure: HttpError, logged: object, request = new HttpRequest(socket)): void {
    httpConnectionOf(socket).inTurn(() => {
      const response = new HttpResponse(request);
      response.assignSocket(socket);
      response.once('finish', () => linger(socket));
      this.send(response, failure, this.#logMalformed(failure, logged));
    });
  }

  #logMalformed({ status }: HttpError, logged: object): string {
    const { logger, nextRequestId } = this.#options;
    const reqId = nextRequestId();
    logger.info({ reqId, ...logged, status }, 'malformed request');
    return reqId;
  }

  /**
   * Sends the error reply to a request with an incomplete body. If the request was already answered, only closes the
   * connection.
   */
  #endBody(response: HttpResponse, failure: HttpError, code: string): void {
    const { req } = response;
    const { socket, reply } = req;
    socket.once('close', () => {
      // Otherwise, Fastify would log a warning that reading the body failed after the reply.
      if (reply) reply.log = reply.log.child({}, { level: 'silent' });
      // Makes the rest of the body fail. Node no longer tracks a request that was answered, so a handler that still
      // reads the body would wait for ever.
      req.destroy();
    });
    if (response.writableFinished) linger(socket);
    else response.once('finish', () => linger(socket));
    if (response.headersSent) {
      // A reply that has begun may depend on the rest of the body, and would wait for it for ever.
      if (!response.writableEnded) response.destroy();
    } else if (reply) reply.header('connection', 'close').send(failure);
    else this.send(response, failure, this.#logMalformed(failure, { ip: socket.remoteAddress, code }));
  }
}
