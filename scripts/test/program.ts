/** The program as tests start it: built once for all of them, since a start that erases types takes a third longer. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rewriteDoors } from '../typescript/doors.js';
import { toJavaScript } from '../typescript/erase-types.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = ['src', 'handlers'];
const IMPORT = /(?<=\b(?:from|import) ?\(?'\.[^']*\.)ts(?=')/g;

export interface BuiltProgram {
  /** Has `src/main.js` and all that belongs to it; below the project's, so that it has its contract and its packages. */
  folder: string;
  /** The URL of the source of a file there. Lines and columns are the same in both. */
  toSource(url: string): string;
  remove(): void;
}

export async function buildProgram(): Promise<BuiltProgram> {
  mkdirSync(join(ROOT, '.tap'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.tap/program-'));
  for (const part of PARTS) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true, filter: (file) => !file.endsWith('.ts') });
    const names = readdirSync(join(ROOT, part), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((name) => name.endsWith('.ts'))) {
      const text = await toJavaScript(readFileSync(join(ROOT, part, name), 'utf8'));
      writeFileSync(join(folder, part, name.replace(/ts$/, 'js')), text.replace(IMPORT, 'js'));
    }
  }
  rewriteDoors(folder);
  const { keepSource } = await import(join(folder, 'src/engine/contract/source.js'));
  await keepSource(new URL('../../openapi/petstore.yaml', import.meta.url));
  const [here, there] = [folder, ROOT].map((path) => pathToFileURL(join(path, '/')).href) as [string, string];
  return {
    folder,
    toSource: (url) => (url.startsWith(here) ? there + url.slice(here.length).replace(/js$/, 'ts') : url),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
