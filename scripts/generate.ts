/**
 * Writes what is made from the contract, and says which handlers are missing: `npm run generate`. With `--check`, fails when
 * the committed files are stale or a handler is missing.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { loadContract } from '../src/contract/load-contract.ts';
import { describeUndeclared } from '../src/replies/own-replies.ts';
import { compileOperations } from '../src/routes/compiled-operations.ts';
import { describeUnmatched } from '../src/routes/unmatched.ts';
import { buildTypes } from './contract-types.ts';
import { buildDomain } from './domain.ts';
import { buildHandlersMap } from './handlers-map.ts';
import { describeIgnored } from './ignored-parameters.ts';
import { buildScopes } from './scopes.ts';

const ROOT = new URL('..', import.meta.url);
const HEADER = '// Made from openapi/petstore.yaml by `npm run generate`. Never edited.\n\n';

const isCheck = process.argv.includes('--check');

// `npm run dev` keeps this process, which is quick from the second time on.
if (process.connected) process.on('message', async () => process.send?.(await run()));
else process.exitCode = await run();

/** Its exit code. */
async function run(): Promise<number> {
  try {
    const problems = await generate();
    for (const problem of problems) console.error(problem);
    return isCheck && problems.length > 0 ? 1 : 0;
  } catch (error) {
    console.error(error);
    return 1;
  }
}

/** What is stale or missing. @throws ContractError */
async function generate(): Promise<string[]> {
  const contract = await loadContract();
  // What the server would refuse at its start is refused here, in the same words.
  compileOperations(contract);
  const files = {
    'src/generated/contract.ts': HEADER + (await buildTypes(contract.document)),
    'src/generated/domain.ts': HEADER + buildDomain(new URL('src/', ROOT)),
    'src/generated/handlers.ts': HEADER + buildHandlersMap(contract),
    'src/generated/scopes.ts': HEADER + buildScopes(contract),
  };
  const problems = describeUndeclared(contract);
  for (const [name, text] of Object.entries(files)) {
    const file = new URL(name, ROOT);
    if (!isCheck) writeFileSync(file, text);
    else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
      problems.push(`${name} is stale: run \`npm run generate\` and commit what it writes`);
    }
  }
  const handlers = readdirSync(new URL('handlers', ROOT)).filter((name) => name.endsWith('.ts'));
  const names = handlers.map((name) => parse(name).name);
  const unmatched = describeUnmatched([...contract.operations.keys()], names);
  return [...problems, ...unmatched, ...describeIgnored(contract)];
}
