/**
 * Reads who may call an operation: everyone, or clients with keys and scopes. An unsupported security scheme is a build
 * error.
 */
import { BEARER, type KeyLocation, type NeededKey, type Requirement } from '../../engine/contract/contract.ts';
import { operationsOf, type ResolvedDocument, type SecurityNode } from '../../engine/contract/document.ts';
import { isMap, isNode, type ReportProblem } from '../../engine/schema/json.ts';
import { toPointerOf } from '../../json/pointer.ts';

/**
 * Matches the name of a scope (RFC 6749, section 3.3). Quotes and commas are not allowed, because they surround and
 * separate scopes elsewhere.
 */
const SCOPE = /^[!#-&(-+\--[\]-~]+$/;

/**
 * Matches the name of a header, a query parameter or a cookie that contains a key. Every such name must be valid as the
 * name of a header (RFC 9110, section 5.6.2).
 */
const KEY_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The location of the key in a request, by the name of the security scheme. Undefined for an unsupported scheme. Two
 * schemes with the same location share one object.
 */
export type KeyLocations = Map<string, KeyLocation | undefined>;

/** Reads the locations of keys in requests. Reports an unsupported security scheme only if an operation requires it. */
export function toKeyLocations(resolved: ResolvedDocument, report: ReportProblem): KeyLocations {
  const locations: KeyLocations = new Map();
  const shared = new Map<string, KeyLocation>();
  const needed = schemesIn(resolved);
  for (const [scheme, source] of Object.entries(resolved.components.securitySchemes)) {
    const location = toKeyLocation(source);
    if (!location && needed.has(scheme))
      report(
        `security scheme ${scheme}: only bearer tokens, basic authentication, and API keys are supported`,
        toPointerOf('components', 'securitySchemes', scheme),
      );
    const known = location && (shared.get(locationKey(location)) ?? location);
    locations.set(scheme, known);
    if (known) shared.set(locationKey(known), known);
  }
  return locations;
}
const TOKEN: KeyLocation = { ...BEARER, isToken: true };

/**
 * Returns the location of a scheme's key in requests, or undefined if the scheme is not supported. The scheme is not
 * validated yet, so its fields may have any type.
 */
function toKeyLocation(node: unknown): KeyLocation | undefined {
  const { type, scheme, bearerFormat, in: location, name } = Object(node);
  if (type === 'oauth2' || type === 'openIdConnect') return TOKEN;
  if (type === 'http' && /^bearer$/i.test(scheme)) return /^jwt$/i.test(bearerFormat) ? TOKEN : BEARER;
  if (type === 'http' && /^basic$/i.test(scheme)) return { in: 'basic', name: 'Authorization' };
  const isKey = type === 'apiKey' && /^(query|header|cookie)$/.test(location) && typeof name === 'string';
  return isKey && KEY_NAME.test(name) ? { in: location, name } : undefined;
}

/** Returns the same text for equal locations of keys. The case of a header's name does not matter. */
const locationKey = ({ in: location, name, isToken }: { in: string; name: string; isToken?: true }) =>
  `${location} ${location === 'header' ? name.toLowerCase() : name} ${isToken ?? false}`;

/**
 * Reads the security requirements of an operation. A client has to fulfil only one of them. If the list is empty,
 * clients need no key.
 */
export function toSecurity(
  requirements: SecurityNode[],
  locations: KeyLocations,
  report: ReportProblem,
): Requirement[] {
  return requirements.flatMap((requirement): Requirement[] => {
    if (!isNode(requirement) || !Object.values(requirement).every(Array.isArray)) {
      report(`security: ${JSON.stringify(requirement)} is not a requirement, such as bearerAuth: []`);
      return [];
    }
    const keys = Object.entries(requirement).flatMap(([scheme, scopes]): NeededKey[] => {
      if (!locations.has(scheme)) report(`security: ${scheme} is not in components.securitySchemes`);
      for (const scope of scopes.filter((text) => !SCOPE.test(text))) report(`security: ${scope} cannot be a scope`);
      const location = locations.get(scheme);
      if (!location) return [];
      return [{ location, scopes }];
    });
    const [first, ...alsoNeeded] = keys;
    return first ? [{ ...first, alsoNeeded }] : [];
  });
}

/**
 * Reports required scopes that no flow of the OAuth scheme offers, because no token can contain them. The requirements
 * and schemes are not validated yet, so their fields may have any type.
 */
export function reportScopes(
  requirements: SecurityNode[],
  schemes: ResolvedDocument['components']['securitySchemes'],
  report: ReportProblem,
): void {
  for (const [name, scopes] of requirements.flatMap((requirement) => Object.entries<unknown>(Object(requirement)))) {
    const { type, flows } = Object(schemes[name]);
    if (type !== 'oauth2' || !isMap(flows) || !Array.isArray(scopes)) continue;
    const offered = Object.values(flows).flatMap((flow) => Object.keys(Object(Object(flow).scopes)));
    for (const scope of scopes.filter((one) => !offered.includes(one)))
      report(`security: no flow of ${name} offers the scope ${scope}: add it to the scopes of one`);
  }
}

/**
 * Builds a function that returns false for a parameter with a key, and true for all others. The server itself reads
 * keys, so handlers do not get these parameters.
 */
export const isNoKey = (alternatives: Requirement[]) => (parameter: { in: string; name: string }) =>
  !alternatives.some((alternative) =>
    [alternative, ...alternative.alsoNeeded].some(({ location }) => locationKey(location) === locationKey(parameter)),
  );

/** Returns the names of the schemes with tokens from another issuer: OAuth 2 and OpenID Connect. */
export function toTokenSchemes(resolved: ResolvedDocument): string[] {
  const { securitySchemes } = resolved.components;
  return [...schemesIn(resolved)].filter((name) => /^(oauth2|openIdConnect)$/.test(securitySchemes[name]?.type ?? ''));
}

/** Returns the names of all security schemes that an operation requires. */
function schemesIn({ paths, security = [] }: ResolvedDocument): Set<string> {
  const operations = Object.values(paths).flatMap(operationsOf);
  const needed = operations.flatMap(([, operation]) => operation.security ?? security);
  return new Set(needed.flatMap((requirement) => Object.keys(Object(requirement))));
}
