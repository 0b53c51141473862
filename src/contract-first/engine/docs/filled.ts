/** Values in the page that only a start knows. The page marks each with a comment: `<!--prefix-->/v1<!---->`. */
import type { AnyContract } from '../contract/contract.ts';
import { isRelative, toFilledUrl } from '../contract/document.ts';
import { html } from './html.ts';

/** Lists this server first, then the other servers of the contract, with the defaults of their variables. */
export function toServers({ document, publicPath, prefix }: AnyContract) {
  const { servers = [] } = document;
  const listed = servers.map((server) => ({ url: toFilledUrl(server), description: server.description }));
  const own = { url: publicPath + prefix, description: 'The server that sent you this page.' };
  const here = listed.find(({ url }) => isRelative(url)) ?? own;
  return [{ ...here, url: here.url || '/' }, ...listed.filter((one) => one !== here)];
}

/** The names: `prefix`; `base` (the base URL in samples: the page's script replaces `https://SERVER` in it); `server-0`. */
export function pageValues(contract: AnyContract): ReadonlyMap<string, string> {
  const servers = toServers(contract).map(({ url }, index) => [`server-${index}`, url] as const);
  const [[, here]] = servers as [[string, string]];
  // A part of a word of a shell, which a slash follows.
  const base = encodeURI(here.toWellFormed()).replace(/\/$/, '').replaceAll("'", '%27');
  return new Map([['prefix', contract.prefix], ['base', `https://SERVER${base}`], ...servers]);
}

/** The page as this start serves it. */
export function fill(page: string, blanks: ReadonlyMap<string, string>): string {
  return page.replace(/(?<=<!--([\w-]+)-->)[^<]*/g, (_, name) => html`${blanks.get(name)}`.text);
}
