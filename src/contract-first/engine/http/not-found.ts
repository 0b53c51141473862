/** Answers requests without a route: 404 for an unknown path, 405 for a method that the path does not accept. */
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import findMyWay from 'find-my-way';
import { HttpError, NO_ROUTE } from '../errors/catalogue.ts';
import type { SendError } from './error-replies.ts';
import { MAX_URL_LENGTH } from './malformed.ts';

/** Returns the methods that are served at a URL, such as `GET, HEAD`; undefined for an unknown path. */
export type MethodsAt = (url: string) => string | undefined;

/** True if a parameter of the path is empty, because the router matches `/items/` with `/items/{itemId}`. */
const hasEmpty = (params: object): boolean => Object.values(params).includes('');

/**
 * Builds the function that finds the methods of a URL. The function only knows routes that are added to the app after
 * this call.
 */
export function buildMethodsAt(app: FastifyInstance): MethodsAt {
  const methodsOf = new Map<string, Set<string>>();
  const paths = findMyWay({ maxParamLength: MAX_URL_LENGTH });
  app.addHook('onRoute', ({ url, method }) => {
    // A route with a wildcard answers 404 itself.
    if (url.includes('*')) return;
    // Paths that differ only in the names of their parameters count as one path.
    const path = url.replace(/(?<!:):(?!:)\w+/g, ':name');
    if (!methodsOf.has(path)) paths.on('GET', path, () => {}, methodsOf.set(path, new Set()).get(path));
    for (const name of [method].flat()) methodsOf.get(path)?.add(name);
  });
  return (url) => {
    const found = paths.find('GET', url.split('?', 1)[0] as string);
    if (!found || hasEmpty(found.params)) return undefined;
    return [...(found.store as Set<string>)].sort().join(', ');
  };
}

/**
 * Adds the 404 and 405 replies for requests without a route below the app's prefix. The reply is sent after the hooks
 * of plugins, and before the body of the request is read.
 */
export function addNotFound(app: FastifyInstance, methodsAt: MethodsAt, sendError: SendError): void {
  const toNotFound = (url: string) => {
    const allow = methodsAt(url);
    if (!allow) return new HttpError(...NO_ROUTE);
    return new HttpError('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } });
  };
  const sendNotFound: onRequestHookHandler = ({ url }, _reply, done) => done(toNotFound(url));
  // Fastify supports the options `errorHandler` and `onRequest` here, although its types do not contain them.
  const options = { errorHandler: sendError, onRequest: sendNotFound } as object;
  // Fastify runs this handler only for plugins that call `reply.callNotFound`.
  app.setNotFoundHandler(options, ({ url }) => {
    throw toNotFound(url);
  });
}
