/** The engine's notes on a request, and all that plugins find of it: `request.contractFirst` and `app.contractFirst`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Domain, Services } from '../registered.ts';
import type { CollectionsOf } from '../store/tables/description.ts';
import type { Caller } from './access/caller.ts';
import type { ErrorCode } from './errors/catalogue.ts';
import type { Accepted } from './requests/request-checks.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** On the app that `build` makes; otherwise only inside the plugin. */
    contractFirst: AppState;
  }
  interface FastifyRequest {
    /** Of each request to such an app, or to a route of the plugin. */
    contractFirst: RequestState;
  }
}

export interface AppState {
  /** The domain's collections, by name. */
  collections: CollectionsOf<Domain>;
  /** The services that `src/services.ts` has built. */
  services: Services;
  /** The methods that are served at a URL, as `GET, HEAD`; undefined for an unknown path. */
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
  /** Whether its handler has answered, so that the reply's status is the handler's. */
  isAnswered = false;
  /** Whether the reply repeats that of an earlier request with the same `Idempotency-Key`; undefined if no change used the key. */
  isReplayed: boolean | undefined = undefined;
  /** The code of the server's own error for the request. */
  errorCode: ErrorCode | undefined = undefined;
  /** The error that a plugin answered the request with, for the log. */
  pluginError: unknown = undefined;
  /** The span of a request that is traced and sampled, and the collections with a span for each call. */
  span: { traceId: string; spanId: string } | undefined = undefined;
  tracedCollections: object | undefined = undefined;
}

const STATE = Symbol('state');

/** Created on first use: the app's hooks may answer a request before our hooks run. */
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
