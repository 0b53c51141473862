/**
 * Declares the properties that the engine adds for plugins: `request.contractFirst`, the state of a request, and
 * `app.contractFirst`.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Domain, Services } from '../registered.ts';
import type { CollectionsOf } from '../store/tables/description.ts';
import type { Caller } from './access/caller.ts';
import type { ErrorCode } from './errors/catalogue.ts';
import type { Accepted } from './requests/request-checks.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Set on an app that `build` makes. In other apps, it exists only inside the plugin. */
    contractFirst: AppState;
  }
  interface FastifyRequest {
    /** Set on every request to an app that `build` makes. In other apps, it is set only for routes of the plugin. */
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
  /** The operationId of the request; undefined until the request is routed. */
  operationId: string | undefined = undefined;
  /** The owner of the request's key; undefined if no key was checked, or if none was valid. */
  caller: Caller | undefined = undefined;
  /** Whether the request meets a security requirement of its operation, or the operation needs no key. */
  isAdmitted = false;
  /** The parameters and the body, set when they have passed the check against the contract. */
  checked: Accepted | undefined = undefined;
  /** Whether the handler has answered. If it has, the status of the reply is the handler's. */
  isAnswered = false;
  /**
   * Whether the reply repeats the reply to an earlier request with the same `Idempotency-Key`. Undefined if no change
   * used the key.
   */
  isReplayed: boolean | undefined = undefined;
  /** The code of the error that the server itself has sent for the request. */
  errorCode: ErrorCode | undefined = undefined;
  /** The error that a plugin has sent as the reply. It is logged. */
  pluginError: unknown = undefined;
  /** The span of a traced and sampled request, and collections that add a span for each call to the store. */
  span: { traceId: string; spanId: string } | undefined = undefined;
  tracedCollections: object | undefined = undefined;
}

const STATE = Symbol('state');

/**
 * Returns the state of a request. The state is created at its first use, because hooks of the app may reply to a
 * request before the engine's hooks run.
 */
export function stateOf(request: FastifyRequest & { [STATE]?: RequestState }): RequestState {
  request[STATE] ??= new RequestState();
  return request[STATE];
}

/** Adds `contractFirst` to the app and to its requests. */
export function addState(app: FastifyInstance, state: AppState): void {
  app.decorateRequest('contractFirst', {
    getter(this: FastifyRequest) {
      return stateOf(this);
    },
  });
  app.decorate('contractFirst', state);
}
