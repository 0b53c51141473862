/** Resolves imports of sources to the built program and the built package. */
import { pathToFileURL } from 'node:url';

const ROOT = new URL('../../', import.meta.url).href;
const PACKAGE = new RegExp(`^${ROOT}src/contract-first/(.*)\\.ts$`);
const SERVICE = new RegExp(`^${ROOT}((?:src|handlers)/.*)\\.ts$`);
const PROGRAM = pathToFileURL(process.env.TEST_PROGRAM).href;

export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  const url = resolved.url
    .replace(PACKAGE, `${PROGRAM}/node_modules/contract-first/dist/$1.js`)
    .replace(SERVICE, `${PROGRAM}/$1.js`);
  // `format` is set, because Node 22.18 and later would otherwise use the format of the TypeScript source.
  return url === resolved.url ? resolved : { ...resolved, url, format: 'module' };
}
