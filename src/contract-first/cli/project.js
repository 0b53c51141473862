/** Reads the project in the current folder: its package.json and its contract. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { normalize } from 'node:path';
import { inspect } from 'node:util';

/**
 * The error if the folder is not a project, or if it is unclear which file is the contract. The command prints only the
 * message, without a stack.
 */
export class ProjectError extends Error {
  [inspect.custom]() {
    return this.message;
  }
}

/** Reads package.json. @throws ProjectError if it is missing */
export function readPackage() {
  if (existsSync('package.json')) return JSON.parse(readFileSync('package.json', 'utf8'));
  throw new ProjectError(`There is no package.json in ${process.cwd()}: go to the folder of the service.`);
}

/** Returns the path of the contract, such as `openapi/books.yaml`. @throws ProjectError if there is not exactly one */
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

/**
 * Returns the names of the files in `openapi/` that may be the contract. `redocly.yaml` is not one: it contains the
 * rules of the lint.
 */
export function findContracts() {
  const entries = existsSync('openapi') ? readdirSync('openapi', { withFileTypes: true }) : [];
  const files = entries.filter((one) => one.isFile()).map(({ name }) => name);
  return files.filter((name) => /(?<!^\.?redocly)\.(ya?ml|json)$/.test(name));
}

const GENERATED = 'src/generated/domain.ts';

/**
 * Returns a message if another version of this package has written the generated files, because they may not fit the
 * types of the installed version.
 */
export function findOtherVersion() {
  const { version } = createRequire(import.meta.url)('contract-first/package.json');
  const text = existsSync(GENERATED) ? readFileSync(GENERATED, 'utf8') : '';
  const [, other = version] = /^\/\/ .* by contract-first ([^\s:]+)/.exec(text) ?? [];
  if (other === version) return undefined;
  return `src/generated is made by contract-first ${other}, and this is ${version}: run \`npx --no -- contract-first generate\`.`;
}

/**
 * Checks that the contract is in a folder inside the project, because the build copies the contract's folder.
 * @throws ProjectError if it is elsewhere
 */
function checkContract(contract) {
  const path = typeof contract === 'string' ? normalize(contract) : '';
  if (!/^(?!\.\.)[^/\\]+[/\\]/.test(path))
    throw new ProjectError('"contract" in package.json must be a file in a folder, such as openapi/books.yaml.');
  if (!existsSync(path)) throw new ProjectError(`There is no ${path}, which is "contract" in package.json.`);
  return path;
}

/** Returns the path of the contract, or prints the reason and exits. */
export function findContractOrExit() {
  try {
    return findContract();
  } catch (error) {
    if (!(error instanceof ProjectError)) throw error;
    console.error(error.message);
    return process.exit(1);
  }
}

/**
 * Writes a tsconfig that includes only the program, without tests and without other packages below `src/`. Returns its
 * path.
 */
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
