/** The files with tests, as runs: each is a process. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Run {
  /** Short, and of this run only: it names the folders of its tests. */
  name: string;
  files: string[];
}

/** Files share a process, since loading the program takes longer than most of them do: as many as this, or more processes are idle. */
const TOGETHER = 12;

export function filesBelow(folder: string, kind = /\.test\.ts$/): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => kind.test(name))
    .map((name) => join(folder, name))
    .sort();
}

/** The runs of files, and of all below folders. A test of minutes (`.deep.ts`, `.fault.ts`) has a process of its own, but those of types share a compiler. */
export function toRuns(paths: string[], jobs: number): Run[] {
  const files = paths.flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : [path]));
  const short = files.filter((file) => file.endsWith('.test.ts'));
  const types = files.filter((file) => /^test\/types\/.*\.deep\.ts$/.test(file));
  const long = files.filter((file) => !short.includes(file) && !types.includes(file));
  return [
    ...deal('run', short, jobs),
    ...deal('types', types, 1),
    ...long.map((file) => ({ name: file, files: [file] })),
  ];
}

/** Nobody knows how long a file takes, but its size: the largest ones are dealt first, each to the run with the least. */
function deal(name: string, files: string[], jobs: number): Run[] {
  const count = Math.min(files.length, Math.max(jobs, Math.ceil(files.length / TOGETHER)));
  const runs = Array.from({ length: count }, () => ({ files: [] as string[], size: 0 }));
  const sizes = files.map((file) => ({ file, size: statSync(file).size })).sort((a, b) => b.size - a.size);
  for (const { file, size } of sizes) {
    const run = runs.reduce((least, one) => (one.size < least.size ? one : least));
    run.files.push(file);
    run.size += size;
  }
  return runs.map(({ files }, index) => ({ name: files.length > 1 ? `${name}-${index + 1}` : String(files), files }));
}
