/**
 * Loads the handlers and migrations that `new` would write, without a service folder. The files are in a temporary
 * folder, which is removed after use.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyHandler } from '../../engine/routes/handler.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { checkedName } from '../generate/source-text.ts';
import type { WrittenCollection } from '../scaffold/collection-files.ts';
import { withTemporaryFolder } from '../temporary.ts';

export interface StoredParts {
  domain: AnyDomain;
  /** The handlers by operationId. */
  handlers: Record<string, AnyHandler>;
}

/**
 * Calls `run` with the handlers and the domain. The files exist only during this call, so `run` must build the server,
 * which then reads the migrations.
 */
export const withStored = <Made>(
  collections: WrittenCollection[],
  run: (parts: StoredParts) => Promise<Made>,
): Promise<Made> =>
  withTemporaryFolder('contract-first-sandbox-', async (folder) => run(await loadStored(collections, folder)));

async function loadStored(collections: WrittenCollection[], folder: string): Promise<StoredParts> {
  const handlers: Record<string, AnyHandler> = {};
  const domain: Record<string, AnyDomain[string]> = {};
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    return pathToFileURL(join(folder, path)).href;
  };
  for (const { name, description, files, handlers: texts } of collections) {
    for (const [path, text] of files) write(path, text);
    domain[name] = { ...description, migrations: pathToFileURL(join(folder, 'src', name, 'migrations/')) };
    for (const [id, text] of texts)
      handlers[id] = (await import(write(`handlers/${checkedName(id).text}.mjs`, withOwnPackage(text)))).default;
  }
  return { domain, handlers };
}

/**
 * Changes the imports of this package in a handler to the package's URL, because Node does not find the package from
 * the temporary folder. A written handler contains no types, so it is already JavaScript.
 */
const withOwnPackage = (text: string): string =>
  text.replace("from 'contract-first';", `from '${import.meta.resolve('contract-first')}';`);
