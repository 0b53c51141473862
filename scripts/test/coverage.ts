/** Measures the coverage of the tests. Node records it in all their processes and threads. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { BuiltProgram } from './program.ts';

const C8 = join(dirname(createRequire(import.meta.url).resolve('c8/package.json')), 'bin/c8.js');

/**
 * The options for c8 that select the files that must be covered, even if no test loads them. Excluded are files that
 * contain only types, files that run in a browser, and files of commands for developers.
 */
const PLACES = [
  ...['src/**', 'handlers/**'].map((it) => `--include=${it}`),
  ...[
    'src/generated/**',
    'src/contract-first/{bin,dist}/**',
    'src/contract-first/cli/*.js',
    'src/contract-first/cli/{dev,new,progress,patterns}.ts',
    'src/contract-first/cli/generate/**',
    'src/contract-first/cli/inspect/notes.ts',
    'src/contract-first/cli/typescript/**',
    'src/contract-first/{registered,start/service}.ts',
    'src/contract-first/store/{tables/description,index}.ts',
    'src/contract-first/engine/routes/handler.ts',
    'src/contract-first/{engine/tokens,engine/routes/read-write-only,json/marked}.ts',
    'src/contract-first/engine/docs/assets/**',
  ].map((it) => `--exclude=${it}`),
];

export interface Coverage {
  /**
   * Returns a folder for the coverage that Node records during one run. After the run, `keep` keeps the files about
   * this project.
   */
  record(): { folder: string; keep(): void };
  /** Prints the code that is not covered. Returns true if all code is covered. */
  demandAll(): boolean;
  /** Prints the coverage of each file that was loaded. */
  show(): undefined;
}

export function buildCoverage({ toSource }: Pick<BuiltProgram, 'toSource'>): Coverage {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-coverage-'));

  function record() {
    const written = mkdtempSync(join(folder, 'run-'));
    return { folder: written, keep: () => keepSources(written) };
  }

  /**
   * Replaces the URLs of built files by the URLs of their sources. Drops files of other packages, so that c8 need not
   * read them.
   */
  function keepSources(written: string): void {
    for (const name of readdirSync(written)) {
      const ours = readScripts(join(written, name))
        .map((it) => ({ ...it, url: toSource(it.url) }))
        .filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'));
      writeFileSync(join(folder, name), JSON.stringify({ result: ours }));
    }
    rmSync(written, { recursive: true });
  }

  function report(...options: string[]): boolean {
    const args = [C8, 'report', `--temp-directory=${folder}`, '--extension=.ts', '--extension=.js', ...PLACES];
    const { status } = spawnSync(process.execPath, [...args, '--reporter=text', ...options], { stdio: 'inherit' });
    rmSync(folder, { recursive: true });
    return status === 0;
  }

  return {
    record,
    demandAll: () => report('--all', '--skip-full', '--check-coverage', '--100'),
    show: () => void report(),
  };
}

/**
 * Returns the coverage of the scripts that a process has run. The list is empty if the process was killed while it
 * wrote this file.
 */
function readScripts(file: string): { url: string }[] {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { result: { url: string }[] }).result;
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
