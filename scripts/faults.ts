/**
 * Runs the fault tests, which take minutes, one file after the other. Then prints their measurements: `npm run
 * test:faults`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDER = 'test/faults';
const named = process.argv.slice(2);
const all = readdirSync(FOLDER).filter((name) => name.endsWith('.fault.ts'));
const files = named.length > 0 ? named : all.map((name) => join(FOLDER, name));

const folder = mkdtempSync(join(tmpdir(), 'petstore-faults-'));
const figures = join(folder, 'figures');
writeFileSync(figures, '');
const { status } = spawnSync('npm', ['test', '--', ...files], {
  stdio: 'inherit',
  env: { ...process.env, JOBS: '1', TEST_TIMEOUT: '1800', FAULT_FIGURES: figures },
});

const rows = readFileSync(figures, 'utf8').trimEnd().split('\n');
const width = Math.max(...rows.map((row) => row.indexOf('\t')));
for (const row of rows) console.log(row.replace(/^([^\t]*)\t/, (_, fault: string) => `${fault.padEnd(width)}  `));
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
