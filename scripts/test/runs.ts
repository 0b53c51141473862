/** The files with tests, as runs: each is a process. */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Run {
  /** The name in the progress: a file, or the folder of several. */
  name: string;
  files: string[];
}

/**
 * Files that take long, most of it in processes that they start or in waiting, the slowest first. Each has a process of its own. They are
 * named by the last folders and the first letters, so that folders above may move.
 */
const ALONE = [
  'scripts/contract-lint',
  'commands/backup',
  'commands/move',
  'store/postgres-outages',
  'scripts/contract-diff',
  'store/postgres-suite',
  'process/postgres',
  'process/process',
  'operate/commands',
  'store/move',
  'http/draining',
  'store/postgres',
  'telemetry/log',
  'store/sqlite.test',
  'store/disk',
  'store/outages',
];

export function filesBelow(folder: string, kind = /\.test\.ts$/): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => kind.test(name))
    .map((name) => join(folder, name))
    .sort();
}

/** All below a folder. The files that are not alone share a process with their neighbours: loading takes longer than they do. */
export function runsBelow(folder: string): Run[] {
  const files = filesBelow(folder);
  const rank = (file: string) => ALONE.findIndex((name) => file.includes(`/${name}`));
  const gone = ALONE.filter((name) => folder === 'test' && !files.some((file) => file.includes(`/${name}`)));
  if (gone.length > 0)
    throw new Error(`No test has these names, which are in scripts/test/runs.ts: ${gone.join(', ')}`);
  const shared = new Map<string, string[]>();
  for (const file of files.filter((file) => rank(file) === -1)) {
    const name = dirname(file);
    shared.set(name, [...(shared.get(name) ?? []), file]);
  }
  const together = [...shared].map(([name, files]) => ({ name: `${name}, ${files.length} files`, files }));
  const alone = files.filter((file) => rank(file) !== -1).sort((a, b) => rank(a) - rank(b));
  // The longest runs begin first, so that the last ones are short.
  return [...together.sort((a, b) => b.files.length - a.files.length), ...alone.map(toRun)];
}

const toRun = (file: string): Run => ({ name: file, files: [file] });

/** The runs of a file, or of all below a folder. */
export function toRuns(path: string): Run[] {
  return statSync(path).isDirectory() ? runsBelow(path.replace(/\/+$/, '')) : [toRun(path)];
}
