/**
 * Writes what is made from the contract, and says which handlers are missing: `npm run generate`. With `--check`, fails when
 * the committed files are stale or a handler is missing.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { loadContract } from '../src/contract/load-contract.ts';
import { describeUnmatched } from '../src/wiring/unmatched.ts';
import { buildTypes } from './contract-types.ts';
import { buildHandlersMap } from './handlers-map.ts';

const ROOT = new URL('..', import.meta.url);
const HEADER = '// Made from openapi/petstore.yaml by `npm run generate`. Never edited.\n\n';

const contract = await loadContract();
const files = {
  'src/generated/contract.ts': HEADER + (await buildTypes(contract.document)),
  'src/generated/handlers.ts': HEADER + buildHandlersMap(contract),
};
const isCheck = process.argv.includes('--check');
const problems: string[] = [];

for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, ROOT);
  if (!isCheck) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    problems.push(`${name} is stale: run \`npm run generate\` and commit what it writes`);
  }
}

const handlers = readdirSync(new URL('handlers', ROOT)).filter((name) => name.endsWith('.ts'));
problems.push(
  ...describeUnmatched(
    [...contract.operations.keys()],
    handlers.map((name) => parse(name).name),
  ),
);
for (const problem of problems) console.error(problem);
process.exitCode = isCheck && problems.length > 0 ? 1 : 0;
