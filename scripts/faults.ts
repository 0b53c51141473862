/** Runs the fault tests that take minutes, with their progress, and prints a table of what they measured: `npm run test:faults`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'petstore-faults-'));
const figures = join(folder, 'figures');
writeFileSync(figures, '');
const files = process.argv.length > 2 ? process.argv.slice(2) : ['test/faults/*.fault.ts'];
const { status } = spawnSync(
  'npx',
  ['tap', '--disable-coverage', '--allow-empty-coverage', '--timeout=900', '--jobs=1', ...files],
  { stdio: 'inherit', env: { ...process.env, FAULT_FIGURES: figures } },
);
const rows = readFileSync(figures, 'utf8').trimEnd().split('\n');
const width = Math.max(...rows.map((row) => row.indexOf('\t')));
for (const row of rows) console.log(row.replace(/^([^\t]*)\t/, (_, fault: string) => `${fault.padEnd(width)}  `));
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
