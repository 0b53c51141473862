/**
 * Functions for handlers that read request headers: `If-Match` and `If-None-Match` (RFC 9110, section 13), with the
 * revision of a record as its entity tag, and `Accept`.
 */
import { parseInt64 } from '../../json/exact-number.ts';
import { toMediaType } from '../contract/replies.ts';

/** Returns the entity tag for a revision of a record: `"5"`. */
export const toTag = (revision: bigint) => `"${revision}"`;

/**
 * How many tags of a header are used. Each one becomes a bound value of the SQL statement, and databases limit their
 * number.
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
 * True if `If-None-Match` is `*`, or contains the tag of this revision, weak or strong. A GET is then answered with
 * 304.
 */
export const isUnchanged = (header: string | undefined, revision: bigint): boolean =>
  header !== undefined && (header.trim() === '*' || toTags(header).some((tag) => tag.revision === revision));

/** True if `If-None-Match` is `*`, or contains this tag, weak or strong. */
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
 * Matches quoted parameters, which may contain commas. If a quote is not closed, the match extends to the end of the
 * header.
 */
const QUOTED = /"(?:[^"\\]|\\.)*["\\]?/gs;
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** How many media ranges of the header are read. A longer list is an attack. */
const MOST_RANGES = 100;

interface Range {
  name: string;
  weight: number;
  hasParameters: boolean;
}

/**
 * Returns the type in `types` that the client prefers by its `Accept` (RFC 9110, section 12.5.1). If the client likes
 * several equally, returns the first of them; if it accepts none, undefined. Without the header, a client accepts every
 * type. A range with parameters counts only if the client does not also send it without parameters. Malformed ranges
 * are ignored.
 */
export function preferredType<Type extends string>(accept: string | undefined, types: Type[]): Type | undefined {
  const ranges = (accept ?? '*/*').replace(QUOTED, '').split(',', MOST_RANGES).flatMap(toRange);
  ranges.sort((a, b) => Number(b.hasParameters) - Number(a.hasParameters) || a.weight - b.weight);
  const weights = new Map(ranges.map(({ name, weight }) => [name, weight]));
  let preferred: Type | undefined;
  let highest = 0;
  for (const type of types) {
    const name = toMediaType(type);
    // The most specific range that matches the type decides.
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
