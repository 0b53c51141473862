/** Conditional requests (RFC 9110, section 13), for records whose entity tag is their revision. */
import { parseInt64 } from '../../json/exact-number.ts';

/** The entity tag of a record at this revision: `"5"`. */
export const toTag = (revision: bigint) => `"${revision}"`;

/** How many tags of a list count: each is a parameter of the SQL statement, and databases limit their number. */
const MOST_TAGS = 100;

/**
 * `If-Match` as the condition of a change: `{ if: ifMatch(header) }`. `*` matches every existing record, a list the records with one of
 * its tags; weak and foreign tags match none. Only the first hundred tags count. `name` is the field, if it is not `revision`.
 */
export function ifMatch(header: string): { revision?: bigint[] };
export function ifMatch<const Name extends string>(header: string, name: Name): { [Field in Name]?: bigint[] };
export function ifMatch(header: string, name = 'revision'): Record<string, bigint[]> {
  if (header.trim() === '*') return {};
  const strong = toTags(header).filter(({ isWeak }) => !isWeak);
  const revisions = new Set(strong.map(({ revision }) => revision));
  return { [name]: [...revisions].slice(0, MOST_TAGS) };
}

/** Whether `If-None-Match` matches this revision, by `*` or a weak or strong tag: then a GET is answered with 304. */
export const isUnchanged = (header: string | undefined, revision: bigint): boolean =>
  header !== undefined && (header.trim() === '*' || toTags(header).some((tag) => tag.revision === revision));

function toTags(header: string): { revision: bigint; isWeak: boolean }[] {
  return Array.from(header.matchAll(/(W\/)?"([^"]*)"/g)).flatMap(([, weak, text = '']) => {
    const revision = parseInt64(text);
    return revision === undefined ? [] : { revision, isWeak: weak !== undefined };
  });
}
