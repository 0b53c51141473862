/** Writes the types of the contract: `npm run generate`, or with `--check` fails when the committed ones are stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { loadContract } from '../src/contract/load-contract.ts';
import { buildTypes } from './contract-types.ts';

const target = new URL('../src/generated/contract.ts', import.meta.url);
const header = '// Made from openapi/petstore.yaml by `npm run generate`. Never edited.\n\n';

const { document } = await loadContract();
const types = header + (await buildTypes(document));

if (!process.argv.includes('--check')) {
  writeFileSync(target, types);
} else if (readFileSync(target, 'utf8') !== types) {
  console.error('src/generated/contract.ts is stale: run `npm run generate` and commit what it writes.');
  process.exitCode = 1;
}
