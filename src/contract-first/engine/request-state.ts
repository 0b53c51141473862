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
    /**
     * The state of the app. In an app that `build` has made, every context has it; in other apps, only the context of
     * the plugin has it.
     */
    contractFirst: AppState;
  }
  interface FastifyRequest {
    /**
     * The state of the request. In an app that `build` has made, every request has it; in other apps, only requests to
     * routes of the plugin have it.
     */
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
  /** The owner of the request's key. Undefined if the key was not checked, or if no valid key was sent. */
  caller: Caller | undefined = undefined;
  /** Whether the request meets a security requirement of its operation, or the operation needs no key. */
  isAdmitted = false;
  /** The parameters and the body, set when they have passed the check against the contract. */
  checked: Accepted | undefined = undefined;
  /** True if the handler has answered. The status of the reply is then the one that the handler has chosen. */
  isAnswered = false;
  /**
   * True if the reply repeats the reply to an earlier request with the same `Idempotency-Key`, false if the change was
   * made for this request. Undefined if no change used the key.
   */
  isReplayed: boolean | undefined = undefined;
  /** The code of the error that the server itself has sent for the request. */
  errorCode: ErrorCode | undefined = undefined;
  /** The error that a plugin has sent as its reply, for the log. */
  pluginError: unknown = undefined;
  /**
   * The ids of the request's span, if the request is traced and sampled. Then `tracedCollections` contains collections
   * that add a span for each call of the store.
   */
  span: { traceId: string; spanId: string } | undefined = undefined;
  tracedCollections: object | undefined = undefined;
}

const STATE = Symbol('state');

/**
 * Returns the state of a request. The state is created when it is first needed, because hooks of the app may reply to a
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
