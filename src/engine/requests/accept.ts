/** `Accept` (RFC 9110, section 12.5.1): the media type that a client prefers. */
import { toMediaType } from '../contract/media-types.ts';

const NAME = "[\\w!#$%&'*+.^`|~-]+";
const RANGE = new RegExp(`^${NAME}/${NAME}$`);
/** Quoted parameters, which may have commas. One that is not closed ends with the header. */
const QUOTED = /"(?:[^"\\]|\\.)*["\\]?/gs;
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The most preferred of these types; the first of several that are equal. Undefined if the client accepts none. Without the header, it
 * accepts all. A range with parameters counts as one without; a malformed one is ignored.
 */
export function preferredType<Type extends string>(accept: string | undefined, types: Type[]): Type | undefined {
  const weights = new Map((accept ?? '*/*').replace(QUOTED, '').split(',').flatMap(toWeight));
  let preferred: Type | undefined;
  let highest = 0;
  for (const type of types) {
    const name = toMediaType(type);
    // The most specific range decides.
    const weight = weights.get(name) ?? weights.get(`${name.split('/', 1)}/*`) ?? weights.get('*/*') ?? 0;
    if (weight <= highest) continue;
    preferred = type;
    highest = weight;
  }
  return preferred;
}

function toWeight(member: string): [range: string, weight: number][] {
  const [range = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return RANGE.test(range) && WEIGHT.test(weight) ? [[range, Number(weight)]] : [];
}
