/** Finds the key in a request, and caches the hashes of valid keys. */
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { KeyPlace } from '../contract/contract.ts';

/** How many valid keys are cached: hashing a key takes a sixth of the time of a request. */
const MAX_VERIFIED = 1000;

/** The longest text that is cached: a key may be sent with any number of spaces before it. */
const LONGEST = 256;

/** Caches the hash of each valid key by the text that was sent. Whether the key is still valid is looked up by the hash. */
export function buildVerified() {
  const known = new LRUCache<string, string>({ max: MAX_VERIFIED });
  return {
    get: (text: string) => known.get(text),
    set: (text: string, hash: string) => {
      if (text.length <= LONGEST) known.set(text, hash);
    },
  };
}

/** Reads the key from its place (bearer keys excepted); empty where the request has none, or several. */
export function buildKeyOf({ in: place, name }: KeyPlace): (request: FastifyRequest) => string {
  const header = name.toLowerCase();
  const sentIn: Record<string, (request: FastifyRequest) => unknown> = {
    basic: ({ headers }) => toPassword(headers.authorization ?? ''),
    header: ({ headers }) => headers[header],
    query: ({ query }) => (query as Record<string, unknown>)[name],
    cookie: ({ headers }) => cookieOf(headers.cookie ?? '', name),
  };
  const find = sentIn[place] as (typeof sentIn)[string];
  return (request) => {
    const sent = find(request);
    return typeof sent === 'string' ? sent : '';
  };
}

/** The password of basic authentication (RFC 7617), or the user name where there is no password. */
function toPassword(authorization: string): string {
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(authorization) ?? [];
  const [name = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':');
  return password.join(':') || name;
}

/** RFC 6265, section 5.4. */
function cookieOf(header: string, name: string): string | undefined {
  const values = header.split(/; */).filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}

/** Removes checked keys from the query: they are not parameters. Undefined where no key is sent in the query. */
export function takeFromQuery(places: KeyPlace[]): ((request: FastifyRequest) => void) | undefined {
  const names = places.filter((place) => place.in === 'query').map(({ name }) => name);
  if (names.length === 0) return undefined;
  return ({ query }) => {
    for (const name of names) delete (query as Record<string, unknown>)[name];
  };
}
