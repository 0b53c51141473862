/**
 * Builds `dist/` from nothing: the compiled program, and the files that it reads beside itself. It takes the place of the last one
 * when it is complete. With `--assets`, only copies those files.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rewriteDoors } from './typescript/doors.js';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** What is not compiled, and read at the start. */
const ASSETS = [
  'src/engine/docs/page',
  'src/store/sqlite/migrations',
  'src/store/postgres/migrations',
  ...readdirSync('src')
    .map((room) => `src/${room}/migrations`)
    .filter((folder) => existsSync(folder)),
];

/** First that what is made from the contract is fresh, and every operation has its handler: the compiler would say less. */
const CHECK = ['--import=./scripts/typescript/register.js', 'scripts/generate.ts', '--check'];
const COMPILE = [
  fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript'))),
  '-p',
  'scripts/tsconfig.build.json',
  '--outDir',
  'dist.new',
];

const isCopy = process.argv.includes('--assets');
const target = isCopy ? 'dist' : 'dist.new';
const remove = (folder) => rmSync(folder, { recursive: true, force: true });
if (!isCopy) remove(target);
const run = (args) => spawnSync(process.execPath, args, { stdio: 'inherit' }).status === 0;
const isBuilt = isCopy || (run(CHECK) && run(COMPILE));
if (isBuilt && !isCopy) rewriteDoors(target);
if (isBuilt) for (const folder of ASSETS) cpSync(folder, `${target}/${folder}`, { recursive: true });
if (isBuilt && !isCopy) {
  const { keepSource } = await import('../dist.new/src/engine/contract/source.js');
  await keepSource(new URL('../openapi/petstore.yaml', import.meta.url));
  remove('dist');
  renameSync(target, 'dist');
}
if (!isCopy) remove(target);
process.exitCode = isBuilt ? 0 : 1;
