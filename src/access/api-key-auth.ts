/** API keys in a header or in the query (OpenAPI 3.1, section 4.8.27). */
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { KeyPlace } from '../contract/contract.ts';
import { hashKey } from './api-keys.ts';
import type { Identify, NoteCaller } from './auth.ts';
import { MAX_VERIFIED } from './bearer-auth.ts';

export function buildIdentifyApiKey(place: KeyPlace, note: NoteCaller): Identify {
  const keyOf = buildKeyOf(place);
  /** The hash of each key that was found valid. Only the hash says whether it still is. */
  const verified = new LRUCache<string, string>({ max: MAX_VERIFIED });
  return (request, _reply, done) => {
    const key = keyOf(request);
    const hash = verified.get(key) ?? hashKey(key);
    const failure = note(request, hash);
    if (request.caller) verified.set(key, hash);
    done(failure);
  };
}

/** What is sent as the key; empty where nothing is, or where it is sent several times. */
export function buildKeyOf({ in: place, name }: KeyPlace): (request: FastifyRequest) => string {
  const header = name.toLowerCase();
  return ({ headers, query }) => {
    const sent = place === 'query' ? (query as Record<string, unknown>)[name] : headers[header];
    return typeof sent === 'string' ? sent : '';
  };
}

/** Takes keys out of the query once they are checked: they are no parameters. Undefined where none is there. */
export function takeFromQuery(places: KeyPlace[]): ((request: FastifyRequest) => void) | undefined {
  const names = places.filter((place) => place.in === 'query').map(({ name }) => name);
  if (names.length === 0) return undefined;
  return ({ query }) => {
    for (const name of names) delete (query as Record<string, unknown>)[name];
  };
}
