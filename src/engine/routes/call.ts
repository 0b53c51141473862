/** What a handler is given of a request that has passed the contract. What few handlers ask for is made when they do. */
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Once } from '../../store/collection.ts';
import type { Parameter } from '../contract/contract.ts';
import { toMediaType } from '../contract/media-types.ts';
import type { Accepted } from '../requests/checks.ts';
import type { Values } from '../requests/parameter-values.ts';
import type { AnyCall, UrlOf } from './handler.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The domain's collections whose calls are spans, where the request is traced and sampled. */
    tracedCollections: object | undefined;
  }
}

/** What all requests to an operation share. */
export interface CallParts {
  /** The operationId. */
  operation: string;
  urlOf: UrlOf;
  logger: Logger;
  /** The header parameter `Idempotency-Key`, where the operation takes one. */
  idempotencyKey: Parameter | undefined;
}

export class Call implements AnyCall {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: Values;
  readonly body: unknown;
  readonly urlOf: UrlOf;
  readonly #request: FastifyRequest;
  readonly #parts: CallParts;

  constructor({ path, query, header, body }: Accepted, request: FastifyRequest, parts: CallParts) {
    this.params = path;
    this.query = query;
    this.headers = header;
    this.body = body;
    this.urlOf = parts.urlOf;
    this.#request = request;
    this.#parts = parts;
    if (request.tracedCollections) Object.assign(this, request.tracedCollections);
  }

  get contentType() {
    return this.body === undefined ? undefined : toMediaType(this.#request.headers['content-type'] as string);
  }

  get key() {
    return this.#request.caller;
  }

  get once(): Once | undefined {
    const { operation, idempotencyKey } = this.#parts;
    const { name = '', keptHours: hours = 0 } = idempotencyKey ?? {};
    const key = this.headers[name];
    return key === undefined ? undefined : { caller: this.key?.id ?? '', operation, key: String(key), hours };
  }

  get requestId() {
    return this.#request.id;
  }

  get log() {
    return this.#parts.logger.child({ reqId: this.requestId });
  }
}

/** Calls that have what the domain keeps, by name: it is the same for all of them, so none pays for it. */
export function withCollections(collections: object): typeof Call {
  class DomainCall extends Call {}
  Object.assign(DomainCall.prototype, collections);
  return DomainCall;
}
