/** Which code the tests run: Node records it in every process and thread that they start. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const C8 = join(dirname(createRequire(import.meta.url).resolve('c8/package.json')), 'bin/c8.js');

/** All that must be covered, even if no test loads it. The rest has types only, or runs in a browser. */
const PLACES = [
  ...[
    'src/**',
    'handlers/**',
    'openapi/lint/**',
    'scripts/contract-*/**',
    'scripts/contract-{lint,diff,release}.ts',
  ].map((it) => `--include=${it}`),
  ...['src/generated/**', 'src/wiring/handler.ts', 'src/store/fields.ts', 'src/docs/page/**'].map(
    (it) => `--exclude=${it}`,
  ),
];

export interface Coverage {
  /** Where Node writes. */
  folder: string;
  /** Prints what is not covered, and says whether everything is. */
  demandAll(): boolean;
  /** Prints how much of each file that was loaded is covered. */
  show(): void;
}

export function buildCoverage(): Coverage {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-coverage-'));

  function report(...options: string[]): boolean {
    const args = [
      C8,
      'report',
      `--temp-directory=${folder}`,
      '--merge-async',
      '--extension=.ts',
      '--extension=.js',
      ...PLACES,
    ];
    const { status } = spawnSync(process.execPath, [...args, '--reporter=text', ...options], { stdio: 'inherit' });
    rmSync(folder, { recursive: true });
    return status === 0;
  }

  return { folder, demandAll: () => report('--all', '--skip-full', '--check-coverage', '--100'), show: () => report() };
}
