/**
 * Lints the contract by the rules in `openapi/lint` and by Spectral's: `npm run contract:lint`, or with `-- <file> ...` other
 * contracts.
 */
import { fileURLToPath } from 'node:url';
import { lintByRedocly } from './contract-lint/redocly.ts';
import { lintBySpectral } from './contract-lint/spectral.ts';

const CONTRACT = new URL('../openapi/petstore.yaml', import.meta.url);

const asked = process.argv.slice(2);
const files = asked.length > 0 ? asked : [fileURLToPath(CONTRACT)];
const problems = [await lintByRedocly(...files), ...(await Promise.all(files.map(lintBySpectral)))].join('');
console.log(problems || 'The contract keeps every rule.');
process.exitCode = problems ? 1 : 0;
