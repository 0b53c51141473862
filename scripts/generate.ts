/**
 * `npm run generate` writes the files that are generated from the contract, and names missing handlers. With `--check`, it fails if
 * the committed files are stale or a handler is missing.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { inspect } from 'node:util';
import { ContractError } from '../src/engine/contract/contract.ts';
import { loadContract } from '../src/engine/contract/load-contract.ts';
import { toLocated } from '../src/engine/contract/located.ts';
import { checkTokens, toTokenSchemes } from '../src/engine/contract/security.ts';
import { describeUnmatched } from '../src/engine/routes/unmatched.ts';
import { toPrintable, toPrintableLines } from '../src/json/literals.ts';
import { OperatorError } from '../src/operator-error.ts';
import type { AnyDomain } from '../src/store/description.ts';
import { loadMigrations } from '../src/store/migrations.ts';
import { describeNotes } from './contract-notes.ts';
import { buildTypes } from './contract-types.ts';
import { buildDomain, buildWriting, HEADER } from './domain.ts';
import { buildHandlersMap } from './handlers-map.ts';
import { describeSlowPatterns } from './patterns.ts';
import { buildRegister, buildService } from './service-files.ts';
import type { Source } from './source-text.ts';

const ROOT = new URL('..', import.meta.url);
const CONTRACT = 'openapi/petstore.yaml';
const CONTRACT_FILE = new URL(CONTRACT, ROOT);

const isCheck = process.argv.includes('--check');

// `npm run dev` keeps this process, which is quick from the second time on.
if (process.connected) process.on('message', async () => process.send?.(await run()));
else process.exitCode = await run();

/** Returns the exit code. */
async function run(): Promise<number> {
  try {
    const problems = await generate();
    for (const problem of problems) console.error(toPrintable(problem));
    return isCheck && problems.length > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ContractError)) console.error(toPrintableLines(inspect(error)));
    else
      for (const problem of toLocated(error.problems, readFileSync(CONTRACT_FILE, 'utf8'), CONTRACT))
        console.error(toPrintable(problem));
    return 1;
  }
}

/** Returns the names of stale or missing files. @throws ContractError or OperatorError */
async function generate(): Promise<string[]> {
  const contract = await loadContract(CONTRACT_FILE);
  const source = new URL('src/', ROOT);
  const staleDomain = [
    ...write('domain', buildDomain(source)),
    ...write('writing', buildWriting(source, CONTRACT)),
    ...write('register', buildRegister()),
  ];
  if (staleDomain.length > 0) return staleDomain;
  // Loaded here, because these modules import the domain, whose folder may have just been replaced.
  const { checkOperations } = await import('../src/engine/routes/checked-operations.ts');
  const { toErrorBody } = await import('../src/errors.ts');
  const { domain } = await import('../src/generated/domain.ts');
  const { verifyToken } = await import('../src/tokens.ts');
  const { describeUndeclared } = await import('../src/engine/replies/own-replies.ts');
  // Refuses what the server would refuse at its start, in the same words.
  const slow = describeSlowPatterns(contract);
  const warnings = checkOperations(contract, { toErrorBody, domain, isLinear: slow.length === 0 });
  checkTokens({ tokenSchemes: toTokenSchemes(contract.resolved) }, verifyToken);
  checkMigrations(domain);
  for (const warning of toLocated(warnings, contract.yaml.toString(), CONTRACT))
    console.error(toPrintable(`warning: ${warning}`));
  for (const note of describeNotes(contract)) console.error(toPrintable(`note: ${note}`));
  if (slow.length > 0) throw new ContractError(slow);
  const problems = [
    ...describeUndeclared(contract),
    ...write('contract', await buildTypes(contract.document)),
    ...write('handlers', buildHandlersMap(contract)),
    ...write('service', buildService(contract)),
  ];
  const handlers = readdirSync(new URL('handlers', ROOT)).filter((name) => name.endsWith('.ts'));
  const names = handlers.map((name) => parse(name).name);
  const unmatched = describeUnmatched([...contract.operations.keys()], names);
  return [...problems, ...unmatched];
}

/** @throws OperatorError that names the files of migrations that a start would refuse */
function checkMigrations(domain: AnyDomain): void {
  for (const database of ['sqlite', 'postgres'] as const) {
    try {
      loadMigrations(database, domain);
    } catch (error) {
      throw new OperatorError(`A start on ${database} would be refused: ${(error as Error).message}`);
    }
  }
}

/** Writes the files, or nothing with `--check`. Returns the names of stale files. */
function write(name: string, made: Source): string[] {
  const path = `src/generated/${name}.ts`;
  const file = new URL(path, ROOT);
  const text = HEADER + made.text;
  if (!isCheck) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    return [`${path} is stale: run \`npm run generate\` and commit what it writes`];
  }
  return [];
}
