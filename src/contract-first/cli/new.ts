/**
 * The command `new`: makes a service in a folder where the package is installed. Prints the name of each file it
 * writes, and overwrites none.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, parse, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toPrintable, toPrintableLines } from '../json/literals.ts';
import type { NormalForm } from './inspect/files.ts';
import type { Inspected } from './inspect/inspect.ts';
import { withProgress } from './progress.ts';
import { findContract, findContracts, ProjectError, readPackage } from './project.js';
import { findMissingTools, OWN_PACKAGE, type Tool, toRanges } from './tools.ts';

/**
 * The files to copy, in four folders: `common` for every service, `first` for a service with the first contract, `own`
 * for one with its own contract, and `given` for a contract that was an argument of the command.
 */
const TEMPLATE = fileURLToPath(new URL('template/', import.meta.url));

const TOOLS: Tool[] = [
  '@redocly/openapi-core',
  '@types/node',
  'chokidar',
  'openapi-typescript',
  'ts-blank-space',
  'typescript',
];

/** The options that let Node run tests in TypeScript. */
const TEST = [`--import=${new URL('typescript/register.js', import.meta.url)}`, '--test'];

/** The scripts in package.json, without shell syntax, because they must also run on Windows. */
const SCRIPTS = {
  generate: 'contract-first generate',
  build: 'contract-first build',
  prestart: 'contract-first build',
  start: 'node dist/src/main.js',
  dev: 'contract-first dev',
  test: 'contract-first test',
  types: 'tsc',
};

/** Values that `npm init -y` writes into package.json. `new` replaces them, because a service cannot use them. */
const OF_NPM_INIT: Record<string, unknown> = {
  type: 'commonjs',
  'scripts.test': 'echo "Error: no test specified" && exit 1',
};

const GENERATE = '  npm run generate   writes src/generated\n';
const toNext = (isGenerated: boolean, first: string) => `
Go on with:
${isGenerated ? '' : GENERATE}  npm start          serves; prints a key, and a request to try
  npm test${first}`;

const say = (text: string) => console.log(toPrintable(text));

/** The options of the command. */
interface NewOptions {
  /** The contract: a URL, or a file, relative to the working directory. */
  contract?: string;
  'no-collections'?: boolean;
  assume?: boolean;
}

/** Runs the command, and returns its exit code. */
export async function runNew(folder: string, options: NewOptions): Promise<number> {
  const isFile = options.contract !== undefined && !/^https?:/.test(options.contract);
  const contract = isFile ? relative(folder, options.contract as string) : options.contract;
  enter(folder);
  await checkName();
  const read = contract === undefined ? undefined : await readGiven(contract);
  if (read?.isRefused) return 1;
  const name = completePackage();
  writeTemplate('common', name);
  const isFirst = contract === undefined && !hasContract();
  writeTemplate(isFirst ? 'first' : 'own', name);
  if (TOOLS.some((tool) => !existsSync(`node_modules/${tool}`))) await install();
  if (contract !== undefined && !(await writeContract(contract, read?.inspected))) return 1;
  const { isGenerated, first } = isFirst ? { isGenerated: false, first: '' } : await writeHandlers(options);
  console.log(toNext(isGenerated, first));
  return isFirst || isGenerated ? 0 : 1;
}

/** Makes the folder the working directory. @throws ProjectError if this package is not installed there */
function enter(folder: string): void {
  const file = join(folder, 'package.json');
  const { dependencies = {} } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  if (!('contract-first' in dependencies))
    throw new ProjectError(`Run \`npm install\` with the tarball of contract-first in ${resolve(folder)} first.`);
  process.chdir(folder);
}

/**
 * Checks the package's name, which `npm init` has derived from the folder's name.
 * @throws ProjectError if keys and files of the service cannot have this name
 */
async function checkName(): Promise<void> {
  const { findNameProblem } = await import('./generate/service-files.ts');
  const { name } = readPackage();
  const problem = name === undefined ? undefined : findNameProblem(name);
  if (problem) throw new ProjectError(`${problem}\nNothing was written.`);
}

type Fields = Record<string, unknown>;

/** Adds missing fields to package.json, replaces the values in `OF_NPM_INIT`, and returns the name of the service. */
function completePackage(): string {
  const before: Fields = JSON.parse(readFileSync('package.json', 'utf8'));
  const name = before.name ?? toName(basename(resolve('.')));
  const wanted: Fields = {
    ...{ name, version: '1.0.0', private: true, type: 'module', scripts: SCRIPTS },
    devDependencies: Object.fromEntries(toRanges(TOOLS)),
    ...{ allowScripts: { 'better-sqlite3': true }, overrides: OWN_PACKAGE.overrides },
  };
  const added: string[] = [];
  const changed: string[] = [];
  const fill = (target: Fields, values: Fields, at: string): Fields => {
    for (const [key, value] of Object.entries(values)) {
      const path = at + key;
      const isMissing = !(key in target);
      if (typeof value === 'object') target[key] = fill({ ...Object(target[key]) }, value as Fields, `${path}.`);
      else if (isMissing || target[key] === OF_NPM_INIT[path]) {
        (isMissing ? added : changed).push(path);
        target[key] = value;
      } else if (target[key] !== value) say(`package.json: ${path} is left as it is`);
    }
    return target;
  };
  const after = fill({ ...before }, wanted, '');
  // `wanted` comes first, because its fields are in the usual order of a package.json.
  const text = `${JSON.stringify({ ...wanted, ...after }, null, 2)}\n`;
  if (added.length + changed.length > 0) writeFileSync('package.json', text);
  if (added.length > 0) say(`package.json: added ${added.join(', ')}`);
  if (changed.length > 0) say(`package.json: changed ${changed.join(', ')}`);
  return String(name);
}

/** Converts the name of a folder to a service's name. API keys and the files of the service begin with this name. */
const toName = (folder: string) =>
  folder
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 40) || 'service';

function writeTemplate(part: string, name: string): void {
  const folder = join(TEMPLATE, part);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.txt'));
  for (const file of files.sort())
    write(file.replace(/\.txt$/, ''), readFileSync(join(folder, file), 'utf8').replaceAll('{{name}}', name));
}

/** Writes a file, unless it exists. Returns true if it was written. */
function write(file: string, text: string, isPrinted = true): boolean {
  mkdirSync(dirname(file), { recursive: true });
  const isThere = existsSync(file);
  if (!isThere) writeFileSync(file, text, { flag: 'wx' });
  if (isPrinted) say(isThere ? `left     ${file}, which is there already` : `wrote    ${file}`);
  return !isThere;
}

const hasContract = () => readPackage().contract !== undefined || findContracts().length > 0;

/** Runs a program that may take minutes, and shows that it is still running. Returns true if it succeeds. */
async function runProgram(name: string, command: string, args: string[], shell = false): Promise<boolean> {
  say(`\n${name} …`.trim());
  const [code] = await withProgress(name, () => once(spawn(command, args, { stdio: 'inherit', shell }), 'exit'));
  return code === 0;
}

/** Installs the devDependencies. @throws ProjectError if npm fails */
async function install(): Promise<void> {
  // On Windows, npm is a script that only a shell can start.
  const isWindows = process.platform === 'win32';
  const args = ['install', '--no-audit', '--no-fund'];
  if (!(await runProgram('npm install, for the devDependencies', 'npm', args, isWindows)))
    throw new ProjectError('npm install failed: run it again, and then this command.');
}

/** Returns the path for the copy of the contract, such as `openapi/books.yaml`. */
const toContractFile = (source: string) => `openapi/${toName(parse(source.replace(/[?#].*$/, '')).name)}.yaml`;

const NOT_SERVED =
  'The contract is not served as it is: change it as the table says, and run this command again. Nothing was written.';

/**
 * The codes of the errors that are thrown if reading the contract needs a tool that is not installed yet, which happens
 * for a contract in several files, or if an earlier run has written `src/errors.ts`.
 */
const WAITS_FOR_TOOLS = ['ERR_MODULE_NOT_FOUND', 'ERR_UNKNOWN_FILE_EXTENSION'];

/** The result of reading the contract before anything is written. */
interface ReadGiven {
  /** True if the contract cannot be served as it is. */
  isRefused: boolean;
  /**
   * The contract as it was read and judged. Undefined if the contract is already in the service, or if reading it must
   * wait for tools.
   */
  inspected?: Inspected;
}

/**
 * Reads and judges the contract before anything is written or installed. Prints the judgement if the contract cannot be
 * served. @throws ProjectError if the contract cannot be read
 */
async function readGiven(source: string): Promise<ReadGiven> {
  if (existsSync(toContractFile(source))) return { isRefused: false };
  const { readJudged, renderJudgement } = await import('./inspect/inspect.ts');
  if (findMissingTools(['ts-blank-space']) === undefined) await import('./typescript/register.js');
  try {
    const inspected = await withProgress(READ, () => readJudged(source, { hasNormalForm: true }));
    if (inspected.normalForm) return { isRefused: false, inspected };
    console.log(renderJudgement(inspected, true));
    console.error(NOT_SERVED);
    return { isRefused: true };
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (WAITS_FOR_TOOLS.includes(code)) return { isRefused: false };
    throw new ProjectError(`${message}\nNothing was written.`);
  }
}

const READ = 'The contract is read';

/** Writes the contract in its normal form. Returns false if the contract cannot be served. */
async function writeContract(source: string, inspected: Inspected | undefined): Promise<boolean> {
  const out = toContractFile(source);
  if (existsSync(out)) {
    say(`left     ${out}, which is there already`);
    return true;
  }
  mkdirSync('openapi', { recursive: true });
  const isWritten = inspected ? await writeRead(inspected, out) : await inspectAgain(source, out);
  if (isWritten) writeTemplate('given', '');
  return isWritten;
}

async function writeRead(inspected: Inspected, out: string): Promise<true> {
  const { toRemarks } = await import('./inspect/inspect.ts');
  const { writeNormalForm } = await import('./inspect/files.ts');
  const written = writeNormalForm(inspected.normalForm as NormalForm, out);
  console.log(['', ...toRemarks(inspected), written].join('\n'));
  return true;
}

/**
 * Runs `inspect` for a contract that could not be read before tools were installed. A new process is needed, because
 * this one does not find the new tools. Returns true if the contract was written.
 */
async function inspectAgain(source: string, out: string): Promise<boolean> {
  const args = [...process.execArgv, process.argv[1] as string, 'inspect', source, '--new', '--write', out];
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
  if (code !== 0) console.error(NOT_SERVED.replace(' Nothing was written.', ''));
  return code === 0;
}

interface Written {
  isGenerated: boolean;
  /** A sentence and a request that creates a record. Empty if no test has created a record. */
  first: string;
}

/**
 * Writes the files that are derived from the contract: error bodies, collections of records, and a handler for each
 * operation.
 */
async function writeHandlers({ 'no-collections': hasNone = false, assume = false }: NewOptions): Promise<Written> {
  const { loadContract } = await import('../contract/read/load-contract.ts');
  // Loads these modules only now, because they need the tools that have just been installed.
  const { writeErrors } = await import('./scaffold/errors-file.ts');
  const { writeService } = await import('./scaffold/write-service.ts');
  const { writeFirstRequest } = await import('./scaffold/first-create.ts');
  const generate = [...process.execArgv, process.argv[1] as string, 'generate'];
  const list = new FileList();
  const { notes, table, failure, first } = await withProgress(
    'The service is written, compiled and tested',
    async () => {
      const contract = await loadContract(findContract());
      const { code: errors, notes } = writeErrors(contract);
      if (errors) write('src/errors.ts', errors.text);
      const options = { write: list.write, generate, test: TEST, hasCollections: !hasNone, isAssuming: assume };
      const { tested, ...written } = await writeService(contract, options);
      return { notes, first: writeFirstRequest(contract, tested), ...written };
    },
  );
  for (const line of [...list.toRest(), ...notes.map((note) => `note: ${note}`), '', ...table]) say(line);
  if (failure !== undefined) console.error(toPrintableLines(`\nnpm run generate fails:\n${failure}`));
  return { isGenerated: failure === undefined, first: toPrintableLines(first) };
}

/** The maximum number of file names that are printed for a folder. */
const MOST_FILES = 20;

/**
 * Writes files, and prints their names. In a large folder, the names of the first files are printed, and the number of
 * all others.
 */
class FileList {
  readonly #counts = new Map<string, number>();

  readonly write = (file: string, text: string): boolean => {
    const said = existsSync(file) ? 'left     ' : 'wrote    ';
    const key = `${said}${dirname(file)}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return write(file, text, count <= MOST_FILES);
  };

  /** Returns a line for each folder with file names that were not printed. */
  toRest(): string[] {
    const rest = [...this.#counts].map(([key, count]) => [key, count - MOST_FILES] as const);
    return rest.filter(([, count]) => count > 0).map(([key, count]) => `${key}/: ${count} more files`);
  }
}
