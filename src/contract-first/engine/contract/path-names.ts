/**
 * Handles the names of parameters in paths. Names that the router cannot handle are changed. Clients never send these names, so `{team-id}`
 * may be `{team_id}` inside the server.
 */

export const PATH_PARAMETER = /\{([^{}]*)\}/g;
export const namesIn = (path: string): string[] => [...path.matchAll(PATH_PARAMETER)].map(([, name]) => name as string);
export const toRouterName = (name: string) => name.replace(/\W/g, '_');
export const withNames = (path: string) => path.replace(PATH_PARAMETER, (_, name) => `{${toRouterName(name)}}`);

/** Returns the path for URLs, with names in braces. Characters that URLs do not allow are percent-encoded (RFC 3986, section 2). */
export const encodePath = (path: string): string =>
  path.replace(/(\{\w+\})|[^!-~]+|["<>[\\\]^`|{}]/g, (text, name) => name ?? encodeURIComponent(text.toWellFormed()));

/** The path of an operation as a router compares it, without the fragment that distinguishes operations. */
export const toRoutePath = (path: string): string => decodePath(path.replace(/#.*/, '')) as string;

/** Returns a path as a router compares it, decoded; undefined if it cannot be decoded. */
export function decodePath(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}
