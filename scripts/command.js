/**
 * Runs a command for operators from what is built: `node scripts/command.js keys list`. Builds first where a source was changed since; not
 * where the development tools were left behind.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['src', 'handlers', 'openapi/petstore.yaml', 'package.json'].map((name) => ROOT + name);
/** What a build writes last. */
const BUILT = `${ROOT}dist/contract.json`;

/** When the file, or anything in the folder, was changed or removed, in milliseconds. */
function changedAt(place) {
  const status = statSync(place);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(place).map((name) => changedAt(`${place}/${name}`)));
}

function isBuilt() {
  if (!existsSync(BUILT)) return false;
  const builtAt = statSync(BUILT).mtimeMs;
  return SOURCES.every((place) => changedAt(place) <= builtAt);
}

const [, , name, ...args] = process.argv;
if (existsSync(`${ROOT}node_modules/typescript`) && !isBuilt()) {
  // Standard output is the command's.
  const { status } = spawnSync(process.execPath, [`${ROOT}scripts/build.js`], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}
const program = `${ROOT}dist/src/operate/cli/${name}.js`;
process.argv = [process.execPath, program, ...args];
await import(program);
