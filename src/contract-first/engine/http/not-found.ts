/** Requests without a route: 404 for an unknown path, 405 for a method that the path does not take. */
import type { FastifyInstance } from 'fastify';
import findMyWay from 'find-my-way';
import { HttpError, NO_ROUTE } from '../errors.ts';
import { MAX_URL_LENGTH } from './thrown.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The methods that are served at a URL, as `GET, HEAD`; undefined for an unknown path. */
    methodsAt(url: string): string | undefined;
  }
}

/** Whether a parameter of the path is empty: the router matches `/items/` with `/items/{itemId}`. */
const hasEmpty = (params: object): boolean => Object.values(params).includes('');

/**
 * Returns the error for a URL without a route: 404 for an unknown path, or 405 with `Allow` (RFC 9110, section 15.5.6) for a method
 * that the path does not take.
 */
export function buildNotFound(app: FastifyInstance): (url: string) => HttpError {
  const methodsOf = new Map<string, Set<string>>();
  const paths = findMyWay({ maxParamLength: MAX_URL_LENGTH });
  app.addHook('onRoute', ({ url, method }) => {
    // A route with a wildcard answers 404 itself.
    if (url.includes('*')) return;
    // Paths that differ only in the names of parameters are one path.
    const path = url.replace(/(?<!:):(?!:)\w+/g, ':name');
    if (!methodsOf.has(path)) paths.on('GET', path, () => {}, methodsOf.set(path, new Set()).get(path));
    for (const name of [method].flat()) methodsOf.get(path)?.add(name);
  });
  const methodsAt = (url: string) => {
    const found = paths.find('GET', url.split('?', 1)[0] as string);
    if (!found || hasEmpty(found.params)) return undefined;
    return [...(found.store as Set<string>)].sort().join(', ');
  };
  app.decorate('methodsAt', methodsAt);
  return (url) => {
    const allow = methodsAt(url);
    if (!allow) return new HttpError(...NO_ROUTE);
    return new HttpError('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } });
  };
}
