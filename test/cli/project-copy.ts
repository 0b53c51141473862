/** Copies the project with another contract, and generates its code there. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { NODE_ARGS } from '../program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = ['handlers', 'openapi', 'src', 'package.json', 'tsconfig.json'];
const PACKAGE = join(ROOT, 'src/contract-first');

/** Makes a copy of the project with this contract. Returns its folder. */
export function copyProject(t: Test, yaml: string): string {
  const folder = t.testdir({});
  const filter = (path: string) => path !== PACKAGE;
  for (const name of PARTS) cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'openapi/petstore.yaml'), yaml);
  return folder;
}

/** Runs `npm run generate` in the copy, without counting its coverage. */
export const generate = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, [...NODE_ARGS, join(PACKAGE, 'cli/main.ts'), 'generate', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_V8_COVERAGE: '' },
  });

export const readCopied = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8');
