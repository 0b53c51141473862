/**
 * Runs a command of the program: `npm run keys -- list`. Builds first if something has changed, unless the development tools
 * are not installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

if (existsSync('node_modules/typescript')) {
  // Not to standard output, which is the command's.
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL('build.js', import.meta.url))], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) process.exit(1);
}
process.argv[1] = resolve('dist/src/main.js');
await import(pathToFileURL(process.argv[1]).href);
