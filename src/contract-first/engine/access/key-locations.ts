/** Describes the locations of keys: how to find a key at each location, and how an error message asks for it. */
import type { FastifyRequest } from 'fastify';
import type { KeyLocation } from '../contract/contract.ts';

interface LocationRules {
  /**
   * The authentication scheme (RFC 9110, section 11.1). Undefined for a header, the query and a cookie, because no
   * scheme is registered for them.
   */
  scheme?: string;
  /** Returns the words that explain to a client how to send a key at this location. */
  way: (name: string) => string;
  /**
   * Returns the value that was sent. Only a string counts as a key: a parameter that was sent twice is an array, and
   * does not count.
   */
  find: (request: FastifyRequest, name: string) => unknown;
}

const LOCATIONS: Record<KeyLocation['in'], LocationRules> = {
  bearer: {
    scheme: 'Bearer',
    way: () => 'Authorization: Bearer <API_KEY>',
    find: ({ headers }) => /^bearer\s+(\S.*)/i.exec(headers.authorization ?? '')?.[1],
  },
  basic: {
    scheme: 'Basic',
    way: () => 'the API key as the password of basic authentication',
    find: ({ headers }) => toPassword(headers.authorization ?? ''),
  },
  header: { way: (name) => `${name}: <API_KEY>`, find: ({ headers }, name) => headers[name.toLowerCase()] },
  query: {
    way: (name) => `?${name}=<API_KEY>`,
    find: ({ query }, name) => (query as Record<string, unknown>)[name],
  },
  cookie: {
    way: (name) => `the cookie ${name}=<API_KEY>`,
    find: ({ headers }, name) => cookieOf(headers.cookie ?? '', name),
  },
};

export const schemeOf = (location: KeyLocation): string | undefined => LOCATIONS[location.in].scheme;

export const wayOf = ({ in: location, name, isToken }: KeyLocation): string =>
  isToken ? 'Authorization: Bearer <token>' : LOCATIONS[location].way(name);

/** Returns the key that was sent at this location; empty if none was sent. */
export function keyAt({ in: location, name }: KeyLocation, request: FastifyRequest): string {
  const sent = LOCATIONS[location].find(request, name);
  return typeof sent === 'string' ? sent : '';
}

/** Returns the password of basic authentication (RFC 7617), or the user name if the password is empty. */
function toPassword(authorization: string): string {
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(authorization) ?? [];
  const [name = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':');
  return password.join(':') || name;
}

/** Finds a key in the header `Cookie` (RFC 6265, section 5.4). */
function cookieOf(header: string, name: string): string | undefined {
  const values = header.split(/; */).filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}

/**
 * Makes the function that removes checked keys from the parsed query: the contract does not declare these keys as
 * parameters, so they would be reported as unknown. Returns undefined if none of the locations is in the query.
 */
export function takeFromQuery(locations: KeyLocation[]): ((request: FastifyRequest) => void) | undefined {
  const names = locations.filter((location) => location.in === 'query').map(({ name }) => name);
  if (names.length === 0) return undefined;
  return ({ query }) => {
    for (const name of names) delete (query as Record<string, unknown>)[name];
  };
}
