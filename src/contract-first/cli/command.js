/**
 * Runs a command of the program: `node scripts/command.js keys list`. Builds first if something has changed, unless the development tools
 * are not installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

if (existsSync(`${ROOT}node_modules/typescript`)) {
  // Not to standard output, which is the command's.
  const { status } = spawnSync(process.execPath, [`${ROOT}scripts/build.js`], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}
process.argv[1] = `${ROOT}dist/src/main.js`;
await import(process.argv[1]);
