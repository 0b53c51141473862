/** `Accept` (RFC 9110, section 12.5.1): the media type that a client prefers. */
import { toMediaType } from '../contract/media-types.ts';

const NAME = "[\\w!#$%&'*+.^`|~-]+";
const RANGE = new RegExp(`^${NAME}/${NAME}$`);
/** Quoted parameters, which may have commas. One that is not closed ends with the header. */
const QUOTED = /"(?:[^"\\]|\\.)*["\\]?/gs;
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** How many ranges count: more are an attack. */
const MOST_RANGES = 100;

interface Range {
  name: string;
  weight: number;
  hasParameters: boolean;
}

/**
 * The most preferred of these types; the first of several that are equal. Undefined if the client accepts none. Without the header, it
 * accepts all. A range with parameters counts where the client has none without; a malformed one is ignored.
 */
export function preferredType<Type extends string>(accept: string | undefined, types: Type[]): Type | undefined {
  const ranges = (accept ?? '*/*').replace(QUOTED, '').split(',', MOST_RANGES).flatMap(toRange);
  ranges.sort((a, b) => Number(b.hasParameters) - Number(a.hasParameters) || a.weight - b.weight);
  const weights = new Map(ranges.map(({ name, weight }) => [name, weight]));
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

function toRange(member: string): Range[] {
  const [name = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
  const isWeight = (parameter: string) => parameter.startsWith('q=');
  const weight = parameters.find(isWeight)?.slice(2) ?? '1';
  const hasParameters = parameters.some((parameter) => parameter !== '' && !isWeight(parameter));
  return RANGE.test(name) && WEIGHT.test(weight) ? [{ name, weight: Number(weight), hasParameters }] : [];
}
