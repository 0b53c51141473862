/** The keys that clients send, and the texts whose result is known already. */
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { KeyPlace } from '../contract/contract.ts';

/** How many texts with valid keys are remembered: hashing a key takes a sixth of the time of a request. */
const MAX_VERIFIED = 1000;

/** The longest text that is remembered: a key may be sent with any number of spaces before it. */
const LONGEST = 256;

/** The hash of the key in each text that was found valid. Only the hash says whether it still is. */
export function buildVerified() {
  const known = new LRUCache<string, string>({ max: MAX_VERIFIED });
  return {
    get: (text: string) => known.get(text),
    set: (text: string, hash: string) => {
      if (text.length <= LONGEST) known.set(text, hash);
    },
  };
}

/** The text that is sent as the key, in any place but that of a bearer; empty where there is none, or several. */
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

/** Of basic authentication (RFC 7617), or the name where there is no password. */
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

/** Takes keys out of the query once they are checked: they are no parameters. Undefined where none is there. */
export function takeFromQuery(places: KeyPlace[]): ((request: FastifyRequest) => void) | undefined {
  const names = places.filter((place) => place.in === 'query').map(({ name }) => name);
  if (names.length === 0) return undefined;
  return ({ query }) => {
    for (const name of names) delete (query as Record<string, unknown>)[name];
  };
}
