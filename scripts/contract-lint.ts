/**
 * Lints the contract by the rules in `openapi/lint` and by Spectral's: `npm run contract:lint`, or with `-- <file> ...` other
 * contracts.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { lintBySpectral } from './contract-lint/spectral.ts';

const CONTRACT = new URL('../openapi/petstore.yaml', import.meta.url);
const CONFIG = new URL('../openapi/lint/redocly.yaml', import.meta.url);
const REDOCLY = import.meta.resolve('@redocly/cli/bin/cli.js');

/** All that is wrong by the rules in `openapi/lint`, a line for each problem; empty when nothing is. */
export function lintContracts(files: string[]): string {
  const options = ['--config', fileURLToPath(CONFIG), '--lint-config=error', '--format=stylish', '--max-problems=1000'];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(REDOCLY), 'lint', ...options, ...files],
    {
      encoding: 'utf8',
      // Redocly asks the network for its newest version, and reports its use, unless told not to.
      env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' },
    },
  );
  // What Redocly says about itself goes to stderr, and is of interest only when it could not lint.
  return status === 0 ? '' : stdout || stderr;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2);
  const files = asked.length > 0 ? asked : [fileURLToPath(CONTRACT)];
  const problems = [lintContracts(files), ...(await Promise.all(files.map(lintBySpectral)))].join('');
  console.log(problems || 'The contract keeps every rule.');
  process.exitCode = problems ? 1 : 0;
}
