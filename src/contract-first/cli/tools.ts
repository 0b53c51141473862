/**
 * Finds the development tools, which are devDependencies of a service, because a server does not need them. As optional
 * peer dependencies of this package, npm would install them in production as well.
 */
import { createRequire } from 'node:module';

interface Package {
  version: string;
  devDependencies: Record<string, string>;
  /**
   * Versions of packages that npm must use. npm reads them only from the package.json of the service, so `new` copies
   * them there.
   */
  overrides: Record<string, string>;
}

/** The package.json of this package. */
export const OWN_PACKAGE: Package = createRequire(import.meta.url)('contract-first/package.json');

export type Tool =
  | '@redocly/openapi-core'
  | '@types/node'
  | 'chokidar'
  | 'openapi-typescript'
  | 'ts-blank-space'
  | 'typescript';

/** Returns each tool with its range of versions, as package.json lists it: `['typescript', '~5.9']`. */
export const toRanges = (tools: Tool[]) =>
  tools.map((name) => [name, OWN_PACKAGE.devDependencies[name] as string] as const);

/** Returns a sentence that names the missing tools, or undefined if all are installed. */
export function findMissingTools(tools: Tool[]): string | undefined {
  const missing = tools.filter((name) => !isInstalled(name));
  if (missing.length === 0) return undefined;
  const wanted = toRanges(missing).map(([name, range]) => `"${name}@${range}"`);
  return `${missing.join(', ')}: not installed. Run \`npm install --save-dev ${wanted.join(' ')}\`.`;
}

function isInstalled(name: Tool): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
