/**
 * Makes a handler's argument: the checked request. Properties that few handlers use are computed when they are read.
 */
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Services } from '../../registered.ts';
import { ForwardedKey, type Idempotency } from '../../store/collection.ts';
import type { Parameter } from '../contract/contract.ts';
import { toMediaType } from '../contract/replies.ts';
import { type RequestState, stateOf } from '../request-state.ts';
import type { Values } from '../requests/parameter-values.ts';
import type { Accepted } from '../requests/request-checks.ts';
import { preferredType } from '../requests/request-headers.ts';
import type { AnyContext, UrlOf } from './handler.ts';

/** The values that all requests to an operation share. */
export interface ContextParts {
  /**
   * The contract's prefix and the operationId. Because of the prefix, two contracts in one app do not share an
   * `Idempotency-Key`.
   */
  operation: string;
  urlOf: UrlOf;
  logger: Logger;
  /** The header parameter `Idempotency-Key`. Undefined if the operation does not accept one. */
  idempotencyKey: Parameter | undefined;
}

export class Context implements AnyContext {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: Values;
  readonly body: unknown;
  readonly urlOf: UrlOf;
  declare readonly services: Services;
  readonly request: FastifyRequest;
  readonly #state: RequestState;
  readonly #parts: ContextParts;
  #idempotency: Idempotency | undefined;

  constructor({ path, query, header, body }: Accepted, request: FastifyRequest, parts: ContextParts) {
    this.params = path;
    this.query = query;
    this.headers = header;
    this.body = body;
    this.urlOf = parts.urlOf;
    this.request = request;
    this.#state = stateOf(request);
    this.#parts = parts;
    if (this.#state.tracedCollections) Object.assign(this, this.#state.tracedCollections);
  }

  get contentType() {
    return this.body === undefined ? undefined : toMediaType(this.request.headers['content-type'] as string);
  }

  /** Returns an arrow function, because handlers destructure their argument and would lose `this`. */
  get accepts() {
    const { accept } = this.request.headers;
    return <Type extends string>(...types: Type[]) => preferredType(accept, types);
  }

  get caller() {
    return this.#state.caller;
  }

  /** Returns the same object for every read of this property, because the store sets `isReplayed` on it. */
  get idempotency(): Idempotency | undefined {
    const state = this.#state;
    const { digest } = state.checked as Accepted;
    if (this.#idempotency || digest === undefined) return this.#idempotency;
    const { operation, idempotencyKey } = this.#parts;
    const { name, keptHours } = idempotencyKey as Parameter;
    const [caller, key, hours] = [toStoredCaller(state.caller), String(this.headers[name]), keptHours as number];
    this.#idempotency = new ForwardedKey({ caller, operation, key, hours, digest }, state);
    return this.#idempotency;
  }

  get requestId() {
    return this.request.id;
  }

  get log() {
    return this.#parts.logger.child({ reqId: this.requestId });
  }
}

/**
 * Returns the id that is stored with the `Idempotency-Key`s of a caller. The id of an API key gets no prefix, so that
 * `Idempotency-Key`s from versions without tokens are still found.
 */
const toStoredCaller = (caller: RequestState['caller']) =>
  caller?.claims === undefined ? (caller?.id ?? '') : caller.counted;

/**
 * Makes the class of a handler's argument. The collections and the services are on the prototype of the class, because
 * they are the same for all requests.
 */
export function withGiven(given: object): typeof Context {
  class DomainContext extends Context {}
  Object.assign(DomainContext.prototype, given);
  return DomainContext;
}
