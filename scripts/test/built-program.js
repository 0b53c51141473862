/** Loads the built program instead of its sources. */
import { pathToFileURL } from 'node:url';

const ROOT = new URL('../../', import.meta.url).href;
const SOURCE = new RegExp(`^${ROOT}((?:src|handlers)/.*)\\.ts$`);
const PROGRAM = pathToFileURL(process.env.TEST_PROGRAM).href;

export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  return { ...resolved, url: resolved.url.replace(SOURCE, `${PROGRAM}/$1.js`) };
}
