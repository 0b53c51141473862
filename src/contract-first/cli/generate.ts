/**
 * Writes the files that are generated from the contract, and names missing handlers. With `--check`, it fails if the committed files
 * are stale or a handler is missing.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { toLocated } from '../contract/located-problems.ts';
import { loadContract } from '../contract/read/load-contract.ts';
import { toTokenSchemes } from '../contract/read/security.ts';
import { checkTokens } from '../engine/access/token-checks.ts';
import { ContractError } from '../engine/contract/contract.ts';
import { describeUnmatched } from '../engine/routes/unmatched.ts';
import { toPrintable, toPrintableLines } from '../json/literals.ts';
import { OperatorError } from '../operator-error.ts';
import type { AnyDomain } from '../store/description.ts';
import { loadMigrations } from '../store/migrations.ts';
import { describeNotes } from './contract-notes.ts';
import { buildTypes } from './contract-types.ts';
import { buildDomain, buildWriting, toHeader } from './domain.ts';
import { buildHandlersMap } from './handlers-map.ts';
import { loadOwnParts } from './own-parts.ts';
import { describeSlowPatterns } from './patterns.ts';
import { describeOtherVersion, findContract, readPackage } from './project.js';
import { buildRegister, buildService, OPTIONAL } from './service-files.ts';
import type { Source } from './source-text.ts';

const SOURCE = pathToFileURL(`${resolve('src')}/`);

const isCheck = process.argv.includes('--check');

// `npm run dev` keeps this process, which is quick from the second time on.
if (process.connected) process.on('message', async () => process.send?.(await run()));
else process.exitCode = await run();

/** Returns the exit code. */
async function run(): Promise<number> {
  let path = '';
  try {
    path = findContract();
    const problems = await generate(path);
    for (const problem of problems) console.error(toPrintable(problem));
    return isCheck && problems.length > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ContractError)) console.error(toPrintableLines(inspect(error)));
    else for (const problem of await toLocated(error.problems, path)) console.error(toPrintable(problem));
    return 1;
  }
}

/** Returns the names of stale or missing files. @throws ContractError or OperatorError */
async function generate(path: string): Promise<string[]> {
  const isOther = isCheck && describeOtherVersion();
  if (isOther) return [isOther];
  mkdirSync('src/generated', { recursive: true });
  const contract = await loadContract(path);
  const write = buildWrite(path);
  const present = OPTIONAL.filter((name) => existsSync(`src/${name}.ts`));
  const staleDomain = [
    ...write('domain', buildDomain(SOURCE)),
    ...write('writing', buildWriting(SOURCE, path)),
    ...write('register', buildRegister(present)),
  ];
  if (staleDomain.length > 0) return staleDomain;
  // Loaded here, because these modules import the domain, whose folder may have just been replaced.
  const { checkOperations } = await import('../contract/checks/checked-operations.ts');
  const { domain, toErrorBody, verifyToken } = await loadOwnParts();
  const { describeUndeclared } = await import('../contract/checks/own-replies.ts');
  // Refuses what the server would refuse at its start, in the same words.
  const slow = describeSlowPatterns(contract);
  const warnings = checkOperations(contract, { toErrorBody, domain, isLinear: slow.length === 0 });
  checkTokens({ tokenSchemes: toTokenSchemes(contract.resolved) }, verifyToken);
  checkMigrations(domain);
  for (const warning of await toLocated(warnings, path)) console.error(toPrintable(`warning: ${warning}`));
  for (const note of describeNotes(contract)) console.error(toPrintable(`note: ${note}`));
  if (slow.length > 0) throw new ContractError(slow);
  const problems = [
    ...describeUndeclared(contract),
    ...write('contract', await buildTypes(contract.document)),
    ...write('handlers', buildHandlersMap(contract)),
    ...write('service', buildService(contract, readPackage(), present)),
  ];
  const handlers = (existsSync('handlers') ? readdirSync('handlers') : []).filter((name) => name.endsWith('.ts'));
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

/** The function writes a file, or nothing with `--check`, and returns its name if it is stale. */
function buildWrite(contract: string): (name: string, made: Source) => string[] {
  return (name, made) => {
    const path = `src/generated/${name}.ts`;
    const text = toHeader(contract) + made.text;
    if (!isCheck) writeFileSync(path, text);
    else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
      return [`${path} is stale: run \`npm run generate\` and commit what it writes`];
    }
    return [];
  };
}
