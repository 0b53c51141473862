/**
 * Builds `dist/` from nothing: the compiled program, and the files that it reads beside itself. With `--assets`, only copies
 * those files.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** What is not compiled, and read at the start. */
const ASSETS = [
  'src/docs/page',
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
];

const isCopy = process.argv.includes('--assets');
if (!isCopy) rmSync('dist', { recursive: true, force: true });
const run = (args) => spawnSync(process.execPath, args, { stdio: 'inherit' }).status === 0;
const isBuilt = isCopy || (run(CHECK) && run(COMPILE));
for (const folder of ASSETS) cpSync(folder, `dist/${folder}`, { recursive: true });
if (isBuilt && !isCopy) {
  const { keepSource } = await import('../dist/src/contract/source.js');
  await keepSource(new URL('../openapi/petstore.yaml', import.meta.url));
}
process.exitCode = isBuilt ? 0 : 1;
