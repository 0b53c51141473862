/** The service of the guide's page on records: its own files are in `tasks/`, the rest are the blocks of the page. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const PAGE = 'src/contract-first/guide/records.md';

/** The blocks of a page in one language. */
const blocksOf = (language: string) =>
  [
    ...readFileSync(join(ROOT, PAGE), 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm')),
  ].map(([, text]) => text as string);

/** The files that the TypeScript blocks are: the first line of each names it. */
export const FILES = blocksOf('ts').map((text): [file: string, text: string] => {
  const [line = '', file = ''] = /^\/\/ ([\w./-]+\.ts)\n/.exec(text) ?? [];
  return [file, text.slice(line.length)];
});

export const [SQL = ''] = blocksOf('sql');

/** Writes the service, without generated files and migrations, into a folder. */
export function writeTasks(folder: string): void {
  cpSync(join(ROOT, 'test/tasks'), folder, { recursive: true });
  for (const [file, text] of FILES) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}
