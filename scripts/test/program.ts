/** The program as tests start it: built once for all of them, since a start that erases types takes a third longer. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeProgram } from '../program.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface BuiltProgram {
  /** Has `src/main.js` and all that belongs to it. */
  folder: string;
  /** The URL of the source of a file there. Lines and columns are the same in both. */
  toSource(url: string): string;
  remove(): void;
}

export async function buildProgram(): Promise<BuiltProgram> {
  mkdirSync(join(ROOT, '.tap'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.tap/program-'));
  await writeProgram(folder);
  const [here, there] = [folder, ROOT].map((path) => pathToFileURL(join(path, '/')).href) as [string, string];
  return {
    folder,
    toSource: (url) => (url.startsWith(here) ? there + url.slice(here.length).replace(/js$/, 'ts') : url),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
