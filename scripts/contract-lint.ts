/**
 * Lints the contract by the rules in `openapi/lint` and by Spectral's: `npm run contract:lint`, or with `-- <file> ...` other
 * contracts.
 */
import { fileURLToPath } from 'node:url';
import { lintByRedocly } from './contract-lint/redocly.ts';
import { lintBySpectral } from './contract-lint/spectral.ts';

const CONTRACT = new URL('../openapi/petstore.yaml', import.meta.url);

export async function lint(asked: string[]): Promise<{ exitCode: number; report: string }> {
  const files = asked.length > 0 ? asked : [fileURLToPath(CONTRACT)];
  const problems = [await lintByRedocly(...files), ...(await Promise.all(files.map(lintBySpectral)))].join('');
  return problems ? { exitCode: 1, report: problems } : { exitCode: 0, report: 'The contract keeps every rule.' };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { exitCode, report } = await lint(process.argv.slice(2));
  console.log(report);
  process.exitCode = exitCode;
}
