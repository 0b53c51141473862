/**
 * Converts paths of the contract. Names of path parameters that the router does not accept are changed: `{team-id}`
 * becomes `{team_id}`. Clients do not see these names, because a URL contains only the values.
 */

export const PATH_PARAMETER = /\{([^{}]*)\}/g;
export const namesIn = (path: string): string[] => [...path.matchAll(PATH_PARAMETER)].map(([, name]) => name as string);
export const toRouterName = (name: string) => name.replace(/\W/g, '_');
export const withNames = (path: string) => path.replace(PATH_PARAMETER, (_, name) => `{${toRouterName(name)}}`);

/**
 * Returns the path for URLs. Parameters keep their braces, and characters that URLs do not allow are percent-encoded
 * (RFC 3986, section 2).
 */
export const encodePath = (path: string): string =>
  path.replace(/(\{\w+\})|[^!-~]+|["<>[\\\]^`|{}]/g, (text, name) => name ?? encodeURIComponent(text.toWellFormed()));

/**
 * Returns the path of an operation as routers compare it: decoded, and without the fragment. A fragment only
 * distinguishes several operations on the same path.
 */
export const toRoutePath = (path: string): string => decodePath(path.replace(/#.*/, '')) as string;

/** Decodes a path, because routers compare decoded paths. Returns undefined if it cannot be decoded. */
export function decodePath(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}
