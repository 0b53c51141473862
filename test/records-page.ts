/** The service of the guide's records.md: the code blocks of the page, with the remaining files from `tasks/`. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Test } from 'tap';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { TEST_PROGRAM = ROOT } = process.env;
export const PAGE = 'src/contract-first/guide/records.md';

/** Returns the code blocks of the page in one language. */
const blocksOf = (language: string) =>
  [
    ...readFileSync(join(ROOT, PAGE), 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm')),
  ].map(([, text]) => text as string);

/** The TypeScript blocks of the page as files. The first line of each block names its file. */
export const FILES = blocksOf('ts').map((text): [file: string, text: string] => {
  const [line = '', file = ''] = /^\/\/ ([\w./-]+\.ts)\n/.exec(text) ?? [];
  return [file, text.slice(line.length)];
});

export const [SQL = ''] = blocksOf('sql');

/** Writes the service into a folder, without generated files and migrations. */
export function writeTasks(folder: string): void {
  cpSync(join(ROOT, 'test/tasks'), folder, { recursive: true });
  for (const [file, text] of FILES) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

/** Writes the service with migrations and generated files. Returns its folder. */
export function prepareTasks(t: Test): string {
  const folder = t.testdir({});
  writeTasks(folder);
  mkdirSync(join(folder, 'node_modules'));
  const installed = join(folder, 'node_modules/contract-first');
  symlinkSync(join(TEST_PROGRAM, 'node_modules/contract-first'), installed);
  const env = { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: '' };
  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
    if (status !== 0) throw new Error(stderr);
    return stderr;
  };
  const cli = join(installed, 'dist/cli/main.js');
  t.match(run(cli, 'generate'), /^warning: no migration makes the table of notes, projects, tasks: npx/);
  run(cli, 'migration', 'first');
  t.equal(run(cli, 'generate'), '', 'generate reports no missing index');
  const program = pathToFileURL(join(installed, 'dist/cli/program.js'));
  run('--input-type=module', '--eval', `import { writeProgram } from '${program}'; await writeProgram('dist');`);
  return folder;
}
