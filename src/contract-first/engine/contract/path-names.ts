/**
 * The names of parameters in paths. Names that a router cannot handle are changed: they are never sent, so `{team-id}` may be
 * `{team_id}` inside.
 */

export const NAME = /\{([^{}]*)\}/g;
export const namesIn = (path: string): string[] => [...path.matchAll(NAME)].map(([, name]) => name as string);
export const toName = (name: string) => name.replace(/\W/g, '_');
export const withNames = (path: string) => path.replace(NAME, (_, name) => `{${toName(name)}}`);

/** The path in URLs, with its names in braces, and characters that no URL has percent-encoded (RFC 3986, section 2). */
export const encodePath = (path: string): string =>
  path.replace(/(\{\w+\})|[^!-~]+|["<>[\\\]^`|{}]/g, (text, name) => name ?? encodeURIComponent(text.toWellFormed()));

/** A path as a router compares it, decoded; undefined if it cannot be decoded. */
export function decodePath(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}
