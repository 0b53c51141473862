/** The `Link` to the next page (RFC 8288). */
import type { OperationId } from './directed.ts';
import type { PathOf, QueryOf, UrlOf } from './handler.ts';

/** Cached by page: the store returns the same page object again and again, and making its link takes longer than finding the page. */
const links = new WeakMap<object, { madeOf: unknown[]; link: string }>();

/**
 * The `Link` from this page to the next one; `urlOf` makes its URL from the other arguments. A cached link is made anew when the
 * parameters differ: the store may return one page for several queries.
 */
export function nextLink<Id extends OperationId>(
  page: object,
  urlOf: UrlOf,
  id: Id,
  params: PathOf<Id>,
  query: Partial<QueryOf<Id>>,
  changes: Partial<QueryOf<Id>>,
): string {
  const madeOf = [id, params, query, changes];
  const known = links.get(page);
  if (known && madeOf.every((part, index) => isSame(part, known.madeOf[index]))) return known.link;
  const link = `<${urlOf(id, params, query, changes)}>; rel="next"`;
  links.set(page, { madeOf, link });
  return link;
}

/** Compares objects by their fields. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other;
  return holds(one as Fields, other as Fields) && holds(other as Fields, one as Fields);
}

type Fields = Record<string, unknown>;

function holds(all: Fields, some: Fields): boolean {
  for (const name in some) if (all[name] !== some[name]) return false;
  return true;
}
