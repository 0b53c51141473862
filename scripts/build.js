/** Builds `dist/` from nothing: the compiled program, and the files that it reads beside itself. */
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What is not compiled, and read at the start. */
const ASSETS = ['src/docs/page', 'src/store/sqlite/migrations'];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
rmSync('dist', { recursive: true, force: true });
const tsc = fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript')));
const { status } = spawnSync(process.execPath, [tsc, '-p', 'scripts/tsconfig.build.json'], { stdio: 'inherit' });
for (const folder of ASSETS) cpSync(folder, `dist/${folder}`, { recursive: true });
process.exitCode = status ?? 1;
