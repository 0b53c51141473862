/** Who may call an operation: everyone, or clients with a key in one of some places, and its scopes. Any other security is refused. */

import type { Json, Refuse } from '../schema/json.ts';
import type { KeyPlace, Parameter, Requirement } from './contract.ts';

/** A name of a scope, as RFC 6749, section 3.3, without quotes and commas, which stand around and between scopes elsewhere. */
const SCOPE = /^[!#-&(-+\--[\]-~]+$/;

/** A name of a header (RFC 9110, section 5.6.2); enough for one in a query, too. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** By the names of their schemes; undefined where a scheme is refused. No two keys have the same place: nothing would tell them apart. */
export type KeyPlaces = Map<string, KeyPlace | undefined>;

export function toKeyPlaces(schemes: Record<string, Json>, refuse: Refuse): KeyPlaces {
  const places: KeyPlaces = new Map();
  const names = new Map<string, string>();
  for (const [scheme, source] of Object.entries(schemes)) {
    const place = toKeyPlace(source);
    const taken = place && names.get(toText(place));
    if (!place)
      refuse(`security scheme ${scheme}: only bearer keys, and API keys in a header or a query, are supported`);
    if (taken) refuse(`security schemes ${taken} and ${scheme} have their keys in the same place`);
    places.set(scheme, place);
    if (place) names.set(toText(place), scheme);
  }
  return places;
}

function toKeyPlace({ type, scheme, in: place, name }: Json): KeyPlace | undefined {
  if (type === 'http' && scheme?.toLowerCase() === 'bearer') return { in: 'bearer', name: 'Authorization' };
  return type === 'apiKey' && (place === 'header' || place === 'query') && NAME.test(name)
    ? { in: place, name }
    : undefined;
}

/** What tells places apart: a bearer key is in a header, too, and the names of headers have no case. */
const toText = ({ in: place, name }: Pick<Parameter | KeyPlace, 'in' | 'name'>) =>
  place === 'query' ? `?${name}` : name.toLowerCase();

/** The ways in, one of which is enough; none where no key is needed. */
export function toSecurity(
  requirements: Record<string, string[]>[],
  places: KeyPlaces,
  parameters: Parameter[],
  refuse: Refuse,
): Requirement[] {
  return requirements.flatMap((requirement): Requirement[] => {
    const [[scheme, scopes] = ['', []], ...others] = Object.entries(requirement);
    if (!places.has(scheme) || others.length > 0) {
      refuse(`security ${JSON.stringify(requirement)} is not one scheme of components.securitySchemes`);
    }
    for (const scope of scopes.filter((text) => !SCOPE.test(text))) refuse(`security: ${scope} cannot be a scope`);
    const place = places.get(scheme);
    if (!place) return [];
    // `Authorization` is no parameter in any case.
    const kept = parameters.filter((parameter) => parameter.in !== 'path' && place.in !== 'bearer');
    const same = kept.find((parameter) => toText(parameter) === toText(place));
    if (same) refuse(`parameter ${same.name} has the place of the key of security scheme ${scheme}; remove it`);
    return [{ place, scopes }];
  });
}
