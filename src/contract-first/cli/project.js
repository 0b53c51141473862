/** The project that a tool works on: the current folder, with its package.json and its contract. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { normalize } from 'node:path';
import { inspect } from 'node:util';

/** The error of a folder that is not a project, or of an unclear contract. Only its message is printed, without a stack. */
export class ProjectError extends Error {
  [inspect.custom]() {
    return this.message;
  }
}

/** @throws ProjectError */
export function readPackage() {
  if (existsSync('package.json')) return JSON.parse(readFileSync('package.json', 'utf8'));
  throw new ProjectError(`There is no package.json in ${process.cwd()}: go to the folder of the service.`);
}

/** The path of the contract: `openapi/books.yaml`. @throws ProjectError */
export function findContract() {
  const { contract } = readPackage();
  if (contract !== undefined) return checkContract(contract);
  const found = findContracts();
  if (found.length === 0)
    throw new ProjectError('There is no contract: put one into openapi/, or name it as "contract" in package.json.');
  if (found.length > 1)
    throw new ProjectError(`openapi/ has ${found.sort().join(' and ')}: name one as "contract" in package.json.`);
  return `openapi/${found[0]}`;
}

/** The names of the files in `openapi/` that may be the contract: not `redocly.yaml`, the rules of the lint. */
export function findContracts() {
  const entries = existsSync('openapi') ? readdirSync('openapi', { withFileTypes: true }) : [];
  const files = entries.filter((one) => one.isFile()).map(({ name }) => name);
  return files.filter((name) => /(?<!^\.?redocly)\.(ya?ml|json)$/.test(name));
}

const GENERATED = 'src/generated/domain.ts';

/** Returns a warning if another version of this package has generated the existing files, because they may not fit its types. */
export function findOtherVersion() {
  const { version } = createRequire(import.meta.url)('contract-first/package.json');
  const text = existsSync(GENERATED) ? readFileSync(GENERATED, 'utf8') : '';
  const [, other = version] = /^\/\/ .* by contract-first ([^\s:]+)/.exec(text) ?? [];
  if (other === version) return undefined;
  return `src/generated is made by contract-first ${other}, and this is ${version}: run \`npx --no -- contract-first generate\`.`;
}

/** Checks that the contract is in a folder of the project, because the build copies that folder. */
function checkContract(contract) {
  const path = typeof contract === 'string' ? normalize(contract) : '';
  if (!/^(?!\.\.)[^/\\]+[/\\]/.test(path))
    throw new ProjectError('"contract" in package.json must be a file in a folder, such as openapi/books.yaml.');
  if (!existsSync(path)) throw new ProjectError(`There is no ${path}, which is "contract" in package.json.`);
  return path;
}

/** Finds the contract, or ends the tool with the message. */
export function findContractOrExit() {
  try {
    return findContract();
  } catch (error) {
    if (!(error instanceof ProjectError)) throw error;
    console.error(error.message);
    return process.exit(1);
  }
}

/** Writes the compiler's settings for the program alone, without the tests and without other packages below `src/`; returns their path. */
export function writeCompilerSettings() {
  const file = 'node_modules/.cache/tsconfig.program.json';
  const packages = readdirSync('src').filter((name) => existsSync(`src/${name}/package.json`));
  const settings = {
    extends: '../../tsconfig.json',
    compilerOptions: { incremental: true, tsBuildInfoFile: 'tsbuildinfo.program' },
    include: ['../../src', '../../handlers'],
    exclude: packages.map((name) => `../../src/${name}`),
  };
  mkdirSync('node_modules/.cache', { recursive: true });
  writeFileSync(file, JSON.stringify(settings));
  return file;
}
