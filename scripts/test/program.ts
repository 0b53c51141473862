/**
 * Builds the program that tests start. The program is built once for all tests, because a start from the sources takes
 * a third longer.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildPackage } from '../../src/contract-first/cli/build-package.js';
import { writeProgram } from '../../src/contract-first/cli/program.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface BuiltProgram {
  /** The folder that contains `src/main.js` and all the files it needs. */
  folder: string;
  /** Returns the URL of the source of a built file. Lines and columns are the same in both files. */
  toSource(url: string): string;
  remove(): void;
}

export async function buildProgram(): Promise<BuiltProgram> {
  mkdirSync(join(ROOT, '.tap'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.tap/program-'));
  const installed = join(folder, 'node_modules/contract-first');
  await buildPackage(join(installed, 'dist'));
  // The built package is without sources, so the condition that resolves imports to sources is removed from its
  // package.json.
  const manifest = readFileSync(join(ROOT, 'src/contract-first/package.json'), 'utf8');
  writeFileSync(join(installed, 'package.json'), manifest.replace(/"contract-first-source": .*,\n/g, ''));
  await writeProgram(folder);
  const [here, there] = [folder, ROOT].map((path) => pathToFileURL(join(path, '/')).href) as [string, string];
  return {
    folder,
    toSource(url) {
      if (!url.startsWith(here)) return url;
      const path = url.slice(here.length).replace(/^node_modules\/contract-first\/dist\//, 'src/contract-first/');
      const source = path.replace(/js$/, 'ts');
      return there + (existsSync(join(ROOT, source)) ? source : path);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
