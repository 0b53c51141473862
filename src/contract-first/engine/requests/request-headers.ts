/**
 * Functions that handlers call to read request headers: `Accept`, and `If-Match` and `If-None-Match` (RFC 9110, section
 * 13). Entity tags are the revisions of records.
 */
import { parseInt64 } from '../../json/exact-number.ts';
import { toMediaType } from '../contract/replies.ts';

/** Returns the entity tag for a revision of a record: `"5"`. */
export const toTag = (revision: bigint) => `"${revision}"`;

/**
 * The most entity tags of a header that are used. Every tag becomes a bound value in a SQL statement, and databases
 * limit the number of bound values.
 */
const MOST_TAGS = 100;

/**
 * Converts `If-Match` to the condition of a change: `{ if: ifMatch(header) }`. `*` matches every existing record, and a
 * list of tags matches the records with one of these tags. Weak tags, and tags that are not revisions, match nothing.
 * Only the first hundred tags count. `name` is the field that contains the revision, by default `revision`.
 */
export function ifMatch(header: string): { revision?: bigint[] };
export function ifMatch<const Name extends string>(header: string, name: Name): { [Field in Name]?: bigint[] };
export function ifMatch(header: string, name = 'revision'): Record<string, bigint[]> {
  if (header.trim() === '*') return {};
  const strong = toTags(header).filter(({ isWeak }) => !isWeak);
  const revisions = new Set(strong.map(({ revision }) => revision));
  return { [name]: [...revisions].slice(0, MOST_TAGS) };
}

/**
 * True if `If-None-Match` is `*`, or contains the entity tag of this revision, weak or strong. The handler of a GET
 * then answers with 304.
 */
export const isUnchanged = (header: string | undefined, revision: bigint): boolean =>
  header !== undefined && (header.trim() === '*' || toTags(header).some((tag) => tag.revision === revision));

/** True if `If-None-Match` is `*`, or contains this entity tag, weak or strong. */
export const isTagIn = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || [...header.matchAll(/"[^"]*"/g)].some(([one]) => one === tag.replace(/^W\//, '')));

function toTags(header: string): { revision: bigint; isWeak: boolean }[] {
  return Array.from(header.matchAll(/(W\/)?"([^"]*)"/g)).flatMap(([, weak, text = '']) => {
    const revision = parseInt64(text);
    return revision === undefined ? [] : { revision, isWeak: weak !== undefined };
  });
}

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const RANGE = new RegExp(`^${TOKEN}/${TOKEN}$`);
/**
 * Matches the quoted values of parameters, which may contain commas. If a quotation mark is not closed, the match
 * extends to the end of the header.
 */
const QUOTED = /"(?:[^"\\]|\\.)*["\\]?/gs;
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** The most media ranges of `Accept` that are read. A longer list can only be an attack. */
const MOST_RANGES = 100;

interface Range {
  name: string;
  weight: number;
  hasParameters: boolean;
}

/**
 * Returns the type in `types` that the client prefers, according to its header `Accept` (RFC 9110, section 12.5.1). Of
 * several types that the client likes equally, returns the first one. Returns undefined if the client accepts none of
 * the types. A client without this header accepts every type. A media range with parameters is only used if the header
 * does not list the same range without parameters. Malformed media ranges are ignored.
 */
export function preferredType<Type extends string>(accept: string | undefined, types: Type[]): Type | undefined {
  const ranges = (accept ?? '*/*').replace(QUOTED, '').split(',', MOST_RANGES).flatMap(toRange);
  ranges.sort((a, b) => Number(b.hasParameters) - Number(a.hasParameters) || a.weight - b.weight);
  const weights = new Map(ranges.map(({ name, weight }) => [name, weight]));
  let preferred: Type | undefined;
  let highest = 0;
  for (const type of types) {
    const name = toMediaType(type);
    // If several media ranges match the type, the most specific one gives the weight.
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
