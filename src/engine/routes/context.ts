/** What a handler is given of a request that has passed the contract. What few handlers ask for is made when they do. */
import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { domain } from '../../generated/domain.ts';
import type { Services } from '../../services.ts';
import type { Idempotency } from '../../store/collection.ts';
import type { CollectionsOf } from '../../store/description.ts';
import type { Parameter } from '../contract/contract.ts';
import { toMediaType } from '../contract/media-types.ts';
import type { Accepted } from '../requests/checks.ts';
import type { Values } from '../requests/parameter-values.ts';
import type { AnyContext, UrlOf } from './handler.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** What the domain keeps, by name. */
    collections: CollectionsOf<typeof domain>;
    /** What `src/services.ts` has built. */
    services: Services;
  }
  interface FastifyRequest {
    /** The domain's collections whose calls are spans, where the request is traced and sampled. */
    tracedCollections: object | undefined;
  }
}

/** What all requests to an operation share. */
export interface ContextParts {
  /** The operationId. */
  operation: string;
  urlOf: UrlOf;
  logger: Logger;
  /** The header parameter `Idempotency-Key`, where the operation takes one. */
  idempotencyKey: Parameter | undefined;
}

export class Context implements AnyContext {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: Values;
  readonly body: unknown;
  readonly urlOf: UrlOf;
  declare readonly services: Services;
  readonly #request: FastifyRequest;
  readonly #parts: ContextParts;
  #idempotency: Idempotency | undefined;

  constructor({ path, query, header, body }: Accepted, request: FastifyRequest, parts: ContextParts) {
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

  get caller() {
    return this.#request.caller;
  }

  /** One object for all calls: the store notes there whether it was done before. */
  get idempotency(): Idempotency | undefined {
    this.#idempotency ??= this.#toIdempotency();
    return this.#idempotency;
  }

  #toIdempotency(): Idempotency | undefined {
    const { operation, idempotencyKey } = this.#parts;
    const { name = '', keptHours: hours = 0 } = idempotencyKey ?? {};
    const key = this.headers[name];
    if (key === undefined) return undefined;
    const digest = toDigest([this.params, this.query, this.body]);
    return { caller: toKept(this.#request.caller), operation, key: String(key), hours, digest };
  }

  get requestId() {
    return this.#request.id;
  }

  get log() {
    return this.#parts.logger.child({ reqId: this.requestId });
  }
}

/** Keys were counted by their ids alone before there were tokens. */
const toKept = (caller: FastifyRequest['caller']) =>
  caller?.claims === undefined ? (caller?.id ?? '') : caller.counted;

/** Calls that have what the domain keeps, by name, and the services: they are the same for all of them, so none pays for it. */
export function withGiven(given: object): typeof Context {
  class DomainContext extends Context {}
  Object.assign(DomainContext.prototype, given);
  return DomainContext;
}

/** A digest of the values, in whatever order their fields are. */
function toDigest(values: unknown[]): string {
  return hash('sha256', JSON.stringify(values, toCanonical), 'base64url');
}

/** A number's type counts: `5` in a text is another value. A body that is read as it comes has no fields yet. */
function toCanonical(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { int64: String(value) };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
