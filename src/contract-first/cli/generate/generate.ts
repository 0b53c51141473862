/**
 * The command `generate`: writes the files that follow from the contract, and fails if an operation lacks a handler.
 * With `--check`, it writes nothing, and also fails if a committed file is stale.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { toLocated } from '../../contract/located-problems.ts';
import { loadContract } from '../../contract/read/load-contract.ts';
import { ContractError } from '../../engine/contract/contract.ts';
import { findUnmatched } from '../../engine/routes/compiled-operations.ts';
import { toPrintable, toPrintableLines } from '../../json/literals.ts';
import { OperatorError } from '../../operator-error.ts';
import { migrateSqlite } from '../../store/sqlite/migrate.ts';
import { Sqlite } from '../../store/sqlite/sqlite.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { loadMigrations } from '../../store/tables/migrations.ts';
import { findNotes, findTokenNotes } from '../inspect/notes.ts';
import { findContract, findOtherVersion, readPackage } from '../project.js';
import { loadTeamParts } from '../team-parts.ts';
import { findUnservable } from '../unservable.ts';
import { buildTypes } from './contract-types.ts';
import {
  buildDomain,
  buildHandlersMap,
  buildRegister,
  buildService,
  buildWriting,
  GENERATED_HEADER,
  OPTIONAL,
} from './service-files.ts';
import type { CheckedCode } from './source-text.ts';

const SOURCE = pathToFileURL(`${resolve('src')}/`);

/** Runs the command, and returns its exit code. With `isCheck`, it writes nothing, and fails if a file is stale. */
export async function runGenerate(isCheck: boolean): Promise<number> {
  let path = '';
  try {
    path = findContract();
    const { notes, unmatched = [] } = await generate(path, isCheck);
    for (const problem of [...notes, ...unmatched]) console.error(toPrintable(problem));
    return unmatched.length > 0 || (isCheck && notes.length > 0) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ContractError)) console.error(toPrintableLines(inspect(error)));
    else for (const problem of await toLocated(error.found, path)) console.error(toPrintable(problem));
    return 1;
  }
}

interface Outcome {
  /** With `--check`, a message for each stale file. Otherwise empty. */
  notes: string[];
  /**
   * Messages for operations without a handler, and for handlers without an operation. In both cases, the server would
   * not start.
   */
  unmatched?: string[];
}

/** Writes or compares the files. @throws ContractError or OperatorError if the service could not start */
async function generate(path: string, isCheck: boolean): Promise<Outcome> {
  const isOther = isCheck && findOtherVersion();
  if (isOther) return { notes: [isOther] };
  mkdirSync('src/generated', { recursive: true });
  const contract = await loadContract(path);
  const write = buildWrite(path, isCheck);
  const present = OPTIONAL.filter((name) => existsSync(`src/${name}.ts`));
  const staleDomain = [
    ...write('domain', buildDomain(SOURCE)),
    ...write('writing', buildWriting(SOURCE, path)),
    ...write('register', buildRegister(contract, present)),
  ];
  if (staleDomain.length > 0) return { notes: staleDomain };
  // Loads the team's modules only now, because they import `src/generated/domain.ts`, which has just been written.
  const own = await loadTeamParts();
  // Throws the same errors that would stop the server's start.
  const warn = (warning: string) => console.error(toPrintable(`warning: ${warning}`));
  checkMigrations(own.domain, warn);
  const { ofContract, ofTeam, warnings } = findUnservable(contract, own);
  if (ofContract.length + ofTeam.length > 0) throw new ContractError([...ofContract, ...ofTeam]);
  for (const warning of await toLocated(warnings, path)) warn(warning);
  for (const note of [...findTokenNotes(contract, own.verifyToken), ...findNotes(contract)])
    console.error(toPrintable(`note: ${note}`));
  const notes = [
    ...write('contract', await buildTypes(contract.document)),
    ...write('handlers', buildHandlersMap(contract)),
    ...write('service', buildService(contract, readPackage(), present)),
  ];
  const handlers = (existsSync('handlers') ? readdirSync('handlers') : []).filter((name) => name.endsWith('.ts'));
  const names = handlers.map((name) => parse(name).name);
  return { notes, unmatched: findUnmatched([...contract.operations.keys()], names) };
}

/**
 * Checks the migrations for both databases. If no collection lacks a migration for SQLite, also runs these migrations
 * in memory, to warn about lists without an index.
 * @throws OperatorError with the reason why a start would fail
 */
function checkMigrations(domain: AnyDomain, onWarning: (warning: string) => void): void {
  const made = new Set<string>();
  for (const database of ['sqlite', 'postgres'] as const) {
    try {
      const parts = new Set(loadMigrations(database, domain).map(({ part }) => part));
      for (const part of parts) made.add(part);
      const hasAll = Object.keys(domain).every((collection) => parts.has(collection));
      if (database === 'sqlite' && hasAll) migrateSqlite(new Sqlite(':memory:'), domain, { onWarning });
    } catch (error) {
      throw new OperatorError(`A start on ${database} would be refused: ${(error as Error).message}`);
    }
  }
  const lacking = Object.keys(domain).filter((collection) => !made.has(collection));
  if (lacking.length > 0)
    onWarning(`no migration makes the table of ${lacking.join(', ')}: npx --no -- contract-first migration first`);
}

/**
 * Builds a function that writes a file if its text has changed. With `--check`, the function writes nothing, and
 * returns a message if the text has changed.
 */
function buildWrite(contract: string, isCheck: boolean): (name: string, made: CheckedCode) => string[] {
  return (name, made) => {
    const path = `src/generated/${name}.ts`;
    const text = GENERATED_HEADER(contract) + made.text;
    if (existsSync(path) && readFileSync(path, 'utf8') === text) return [];
    if (isCheck) return [`${path} is stale: run \`npm run generate\` and commit what it writes`];
    // Only a changed file is written. Otherwise, programs that watch the file would run `generate` again.
    writeFileSync(path, text);
    return [];
  };
}
