/**
 * Writes the `WWW-Authenticate` challenges for clients without a valid key. A challenge describes how to send a key, or
 * names the scopes that a key lacks.
 */
import type { FastifyRequest } from 'fastify';
import type { KeyLocation, NeededKey, Requirement } from '../contract/contract.ts';
import { HttpError } from '../errors/catalogue.ts';
import { keyAt, schemeOf, wayOf } from './key-locations.ts';

/**
 * Returns all values of `WWW-Authenticate` that an operation may send, by status. The two values for 401 are the one
 * for requests without a key and the one for wrong keys. For 403, there is one value for each requirement that needs
 * scopes.
 */
export function challengesOf(security: Requirement[], realm: string): Record<401 | 403, string[]> {
  const locations = [
    ...new Set(security.flatMap(({ alsoNeeded, ...first }) => [first, ...alsoNeeded].map(({ location }) => location))),
  ];
  const wrong = locations.map((location) =>
    toChallenge(location, realm, location.in === 'bearer' ? invalid(location) : {}),
  );
  const missing = locations.map((location) => toChallenge(location, realm, {}));
  return {
    401: locations.length > 0 ? [missing.join(', '), wrong.join(', ')] : [],
    403: security.flatMap(({ location, scopes }) =>
      scopes.length > 0 ? [toChallenge(location, realm, lacking(scopes))] : [],
    ),
  };
}

/** The error that a challenge for bearer tokens contains (RFC 6750, section 3.1). */
const INVALID = { error: 'invalid_token' };
const REFUSED = 'it is not valid';
const invalid = ({ isToken }: KeyLocation, tokenProblem = REFUSED) =>
  isToken ? { ...INVALID, error_description: toQuotable(tokenProblem) } : INVALID;
const lacking = (scopes: string[]) => ({ error: 'insufficient_scope', scope: scopes.join(' ') });

/** Makes the 401. The header contains one challenge for each location of a key (RFC 9110, section 11.6.1). */
export function unauthorized(
  request: FastifyRequest,
  locations: KeyLocation[],
  realm: string,
  tokenProblem?: string,
): HttpError {
  const isMissing = locations.every((location) => keyAt(location, request) === '');
  const ways = [...new Set(locations.map(wayOf))].join(', or ');
  const isTwice = /^bearer\s+bearer\s/i.test(request.headers.authorization ?? '');
  const hint = isTwice ? ' The word Bearer was sent twice.' : '';
  const why = tokenProblem === undefined ? '.' : `: ${tokenProblem}.`;
  const noun = nounOf(locations);
  const message = isMissing ? `The ${noun} is missing: send ${ways}.` : `The ${noun} is not valid${why}${hint}`;
  // A challenge contains `error` only if the request sent a bearer key (RFC 6750, section 3.1).
  const challenges = locations.map((location) =>
    toChallenge(
      location,
      realm,
      location.in === 'bearer' && keyAt(location, request) !== '' ? invalid(location, tokenProblem) : {},
    ),
  );
  return new HttpError('unauthorized', message, {
    headers: { 'www-authenticate': [...new Set(challenges)].join(', ') },
  });
}

export function forbidden(missing: string[], { location, scopes }: NeededKey, realm: string): HttpError {
  const message = `The ${nounOf([location])} may not do this: it lacks the scope ${missing.join(' and ')}.`;
  const challenge = toChallenge(location, realm, lacking(scopes));
  return new HttpError('forbidden', message, { headers: { 'www-authenticate': challenge } });
}

function nounOf(locations: KeyLocation[]): string {
  const nouns = new Set(locations.map(({ isToken }) => (isToken ? 'token' : 'API key')));
  return [...nouns].join(' or ');
}

/**
 * Writes the challenge for an API key. HTTP does not define a scheme for API keys, so the engine uses its own: `ApiKey
 * realm="Store", in="header", name="X-Key"`.
 */
function toChallenge(location: KeyLocation, realm: string, others: Record<string, string>): string {
  const scheme = schemeOf(location);
  // A title without ASCII characters would leave the realm empty, and a contract may require a realm that is not empty.
  // The realm is then `API`.
  const named = toQuotable(realm).trim() || 'API';
  const parameters = { realm: named, ...(!scheme && { in: location.in, name: location.name }), ...others };
  return `${scheme ?? 'ApiKey'} ${Object.entries(parameters)
    .map(([key, value]) => `${key}="${value}"`)
    .join(', ')}`;
}

/** Removes the characters that a quoted string cannot contain unescaped (RFC 9110, section 5.6.4). */
const toQuotable = (text: string) => text.replace(/[^ !#-[\]-~]/g, '');
