/**
 * Fills in the values of the page that are only known at the start. In the page, a comment with the name of the value
 * precedes each value: `<!--prefix-->/v1<!---->`.
 */
import type { AnyContract } from '../contract/contract.ts';
import { isRelative, toFilledUrl } from '../contract/document.ts';
import { html } from './html.ts';

/**
 * Lists the servers of the contract with the defaults of their variables. The server that sends the page is the first.
 */
export function toServers({ document, publicPath, prefix }: AnyContract) {
  const { servers = [] } = document;
  const listed = servers.map((server) => ({ url: toFilledUrl(server), description: server.description }));
  const own = { url: publicPath + prefix, description: 'The server that sent you this page.' };
  const here = listed.find(({ url }) => isRelative(url)) ?? own;
  return [{ ...here, url: here.url || '/' }, ...listed.filter((one) => one !== here)];
}

/**
 * Returns a map from the name of each value to the value. The names are: `prefix`; `base`, the base URL in samples,
 * which contains `https://SERVER` for the page's script to replace; and `server-0`, `server-1` and so on for the URLs
 * of the servers.
 */
export function pageValues(contract: AnyContract): ReadonlyMap<string, string> {
  const servers = toServers(contract).map(({ url }, index) => [`server-${index}`, url] as const);
  const [[, here]] = servers as [[string, string]];
  // The URL becomes part of a shell word in single quotes, and samples add a slash after it.
  const base = encodeURI(here.toWellFormed()).replace(/\/$/, '').replaceAll("'", '%27');
  return new Map([['prefix', contract.prefix], ['base', `https://SERVER${base}`], ...servers]);
}

/** Replaces the values in the page by the values of this start. */
export function fill(page: string, blanks: ReadonlyMap<string, string>): string {
  return page.replace(/(?<=<!--([\w-]+)-->)[^<]*/g, (_, name) => html`${blanks.get(name)}`.text);
}
