/** Keeps the engine's notes on a request, and the parts that plugins can read: `request.contractFirst` and `app.contractFirst`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Domain, Services } from '../registered.ts';
import type { CollectionsOf } from '../store/tables/description.ts';
import type { Caller } from './access/caller.ts';
import type { ErrorCode } from './errors/catalogue.ts';
import type { Accepted } from './requests/request-checks.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The properties of an app that `build` makes. In other apps they exist only inside the plugin. */
    contractFirst: AppState;
  }
  interface FastifyRequest {
    /** The properties of each request to such an app, or to a route of the plugin. */
    contractFirst: RequestState;
  }
}

export interface AppState {
  /** The domain's collections, by name. */
  collections: CollectionsOf<Domain>;
  /** The services that `src/services.ts` has built. */
  services: Services;
  /** Returns the methods that are served at a URL, such as `GET, HEAD`; undefined for an unknown path. */
  methodsAt: (url: string) => string | undefined;
}

export class RequestState {
  /** The operation of the request; undefined until it is routed. */
  operationId: string | undefined = undefined;
  /** The sender of the request; undefined if no key was checked, or none was valid. */
  caller: Caller | undefined = undefined;
  /** Whether the request has met a security requirement of its operation, or none is needed. */
  isAdmitted = false;
  /** The parameters and the body of the request, once they fit the contract. */
  checked: Accepted | undefined = undefined;
  /** Whether the handler has answered. If so, the status of the reply comes from the handler. */
  isAnswered = false;
  /** Whether the reply repeats that of an earlier request with the same `Idempotency-Key`; undefined if no change used the key. */
  isReplayed: boolean | undefined = undefined;
  /** The code of the server's own error for the request. */
  errorCode: ErrorCode | undefined = undefined;
  /** The error that a plugin has sent as the reply, for the log. */
  pluginError: unknown = undefined;
  /** For a traced and sampled request, its span, and collections that add a span for each call. */
  span: { traceId: string; spanId: string } | undefined = undefined;
  tracedCollections: object | undefined = undefined;
}

const STATE = Symbol('state');

/**
 * Returns the notes on a request. The notes are created at their first use, because hooks of the app may answer a request before the
 * engine's hooks run.
 */
export function stateOf(request: FastifyRequest & { [STATE]?: RequestState }): RequestState {
  request[STATE] ??= new RequestState();
  return request[STATE];
}

/** Decorates the app, and the requests to it. */
export function addState(app: FastifyInstance, state: AppState): void {
  app.decorateRequest('contractFirst', {
    getter(this: FastifyRequest) {
      return stateOf(this);
    },
  });
  app.decorate('contractFirst', state);
}
