/** The installed packages, for a copy of the project: the engine is its own. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));
const ENGINE = 'contract-first';

export function linkModules(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(MODULES))
    symlinkSync(name === ENGINE ? `../src/${ENGINE}` : join(MODULES, name), join(modules, name));
}
