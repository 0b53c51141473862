/** Reads who may call an operation: everyone, or clients with keys and scopes. Other kinds of security are refused. */
import { BEARER, type KeyPlace, type NeededKey, type Requirement } from '../../engine/contract/contract.ts';
import { operationsOf, type ResolvedDocument, type SecurityNode } from '../../engine/contract/document.ts';
import { isNode, type ReportProblem } from '../../engine/schema/json.ts';

/** The name of a scope (RFC 6749, section 3.3), without quotes and commas, which surround and separate scopes elsewhere. */
const SCOPE = /^[!#-&(-+\--[\]-~]+$/;

/** A name of a header (RFC 9110, section 5.6.2); enough for one in a query, too. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** The places of keys by the name of the scheme; undefined for a refused scheme. Schemes with the same place share one object. */
export type KeyPlaces = Map<string, KeyPlace | undefined>;

/** A scheme that no operation needs may be of any kind. */
export function toKeyPlaces(resolved: ResolvedDocument, report: ReportProblem): KeyPlaces {
  const places: KeyPlaces = new Map();
  const shared = new Map<string, KeyPlace>();
  const needed = schemesIn(resolved);
  for (const [scheme, source] of Object.entries(resolved.components.securitySchemes)) {
    const place = toKeyPlace(source);
    if (!place && needed.has(scheme))
      report(`security scheme ${scheme}: only bearer tokens, basic authentication, and API keys are supported`);
    const known = place && (shared.get(placeKey(place)) ?? place);
    places.set(scheme, known);
    if (known) shared.set(placeKey(known), known);
  }
  return places;
}
const TOKEN: KeyPlace = { ...BEARER, isToken: true };

/** The scheme, and each part of it, may be of a wrong kind. */
function toKeyPlace(node: unknown): KeyPlace | undefined {
  const { type, scheme, bearerFormat, in: place, name } = Object(node);
  if (type === 'oauth2' || type === 'openIdConnect') return TOKEN;
  if (type === 'http' && /^bearer$/i.test(scheme)) return /^jwt$/i.test(bearerFormat) ? TOKEN : BEARER;
  if (type === 'http' && /^basic$/i.test(scheme)) return { in: 'basic', name: 'Authorization' };
  const isKey = type === 'apiKey' && /^(query|header|cookie)$/.test(place) && typeof name === 'string';
  return isKey && NAME.test(name) ? { in: place, name } : undefined;
}

/** The key by which places are compared: names of headers ignore case. */
const placeKey = ({ in: place, name, isToken }: { in: string; name: string; isToken?: true }) =>
  `${place} ${place === 'header' ? name.toLowerCase() : name} ${isToken ?? false}`;

/** The security requirements, of which one is enough; empty if no key is needed. */
export function toSecurity(requirements: SecurityNode[], places: KeyPlaces, report: ReportProblem): Requirement[] {
  return requirements.flatMap((requirement): Requirement[] => {
    if (!isNode(requirement) || !Object.values(requirement).every(Array.isArray)) {
      report(`security: ${JSON.stringify(requirement)} is no requirement, such as bearerAuth: []`);
      return [];
    }
    const keys = Object.entries(requirement).flatMap(([scheme, scopes]): NeededKey[] => {
      if (!places.has(scheme)) report(`security: ${scheme} is not in components.securitySchemes`);
      for (const scope of scopes.filter((text) => !SCOPE.test(text))) report(`security: ${scope} cannot be a scope`);
      const place = places.get(scheme);
      if (!place) return [];
      return [{ place, scopes }];
    });
    const [first, ...alsoNeeded] = keys;
    return first ? [{ ...first, alsoNeeded }] : [];
  });
}

/** A parameter in the place of a key is the key, which handlers do not get. */
export const isNoKey = (alternatives: Requirement[]) => (parameter: { in: string; name: string }) =>
  !alternatives.some((alternative) =>
    [alternative, ...alternative.alsoNeeded].some(({ place }) => placeKey(place) === placeKey(parameter)),
  );

/** The schemes whose tokens always come from another issuer: OAuth 2 and OpenID Connect. */
export function toTokenSchemes(resolved: ResolvedDocument): string[] {
  const { securitySchemes } = resolved.components;
  return [...schemesIn(resolved)].filter((name) => /^(oauth2|openIdConnect)$/.test(securitySchemes[name]?.type ?? ''));
}

/** The names of the schemes that operations need. */
function schemesIn({ paths, security = [] }: ResolvedDocument): Set<string> {
  const operations = Object.values(paths).flatMap(operationsOf);
  const needed = operations.flatMap(([, operation]) => operation.security ?? security);
  return new Set(needed.flatMap((requirement) => Object.keys(Object(requirement))));
}
