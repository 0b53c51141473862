/** The `Link` to the next page (RFC 8288). */

/** By page: one that the store keeps is sent again and again, and to make its link takes longer than to find the page. */
const links = new WeakMap<object, string>();

/** The `Link` from this page to the next one, made once. So the URL may hold only what the store has read the page by. */
export function nextLink(page: object, toUrl: () => string): string {
  return links.get(page) ?? addLink(page, toUrl());
}

function addLink(page: object, url: string): string {
  const link = `<${url}>; rel="next"`;
  links.set(page, link);
  return link;
}
