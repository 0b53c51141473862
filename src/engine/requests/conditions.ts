/** Conditions of requests (RFC 9110, section 13), on records whose entity tag is their revision. */
import { parseInt64 } from '../../json/int64.ts';

/** The entity tag of a record at this revision: `"5"`. */
export const toTag = (revision: bigint) => `"${revision}"`;

/** How many tags of a list a change looks at: each is a part of its statement, and databases have bounds for these. */
const MOST_TAGS = 100;

/**
 * `If-Match` as the condition of a change: `{ if: ifMatch(header) }`. `*` is met by any record that is there, a list by one of its tags; tags that
 * are weak, or of others, by none. Of a longer list the first hundred count. A field of another name than `revision` is named.
 */
export function ifMatch(header: string): { revision?: bigint[] };
export function ifMatch<const Name extends string>(header: string, name: Name): { [Field in Name]?: bigint[] };
export function ifMatch(header: string, name = 'revision'): Record<string, bigint[]> {
  if (header.trim() === '*') return {};
  const strong = toTags(header).filter(({ isWeak }) => !isWeak);
  const revisions = new Set(strong.map(({ revision }) => revision));
  return { [name]: [...revisions].slice(0, MOST_TAGS) };
}

/** Whether `If-None-Match` names this revision, weak or strong, or any: then a GET is answered with 304. */
export const isUnchanged = (header: string | undefined, revision: bigint): boolean =>
  header !== undefined && (header.trim() === '*' || toTags(header).some((tag) => tag.revision === revision));

function toTags(header: string): { revision: bigint; isWeak: boolean }[] {
  return Array.from(header.matchAll(/(W\/)?"([^"]*)"/g)).flatMap(([, weak, text = '']) => {
    const revision = parseInt64(text);
    return revision === undefined ? [] : { revision, isWeak: weak !== undefined };
  });
}
