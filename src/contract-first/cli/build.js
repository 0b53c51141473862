/**
 * The command `build`: checks the service in the current folder, and compiles it to `dist/`. Does nothing if nothing
 * has changed since the last build.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findUnfitClient, isSource, placeProgram, prepareEngine, readFilesIn, readProgram } from './program.js';
import { findContractOrExit, writeCompilerSettings } from './project.js';

const contract = findContractOrExit();

const ours = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Prints progress on standard error. `npm start` runs this build first, and then standard output belongs to the
 * service.
 */
const say = (text) => process.stderr.write(`${text} …\n`);

if (!existsSync('dist/built-from')) say('The first build takes some ten seconds');
await prepareEngine();

const TYPESCRIPT = createRequire(join(process.cwd(), 'package.json')).resolve('typescript');
/**
 * The checks. `generate` is the first, so that its message about a missing handler is printed, which is clearer than
 * that of the compiler.
 */
const CHECKS = [
  [`--import=${ours('typescript/register.js')}`, ours(`main.${isSource ? 'ts' : 'js'}`), 'generate', '--check'],
  [
    join(dirname(TYPESCRIPT), '../bin/tsc'),
    '-p',
    writeCompilerSettings(),
    '--pretty',
    String(process.stderr.isTTY ?? false),
  ],
];
/** Files other than sources that influence the checks: the settings, and npm's list of the installed packages. */
const SETTINGS = ['package.json', 'tsconfig.json', join(dirname(TYPESCRIPT), '../../.package-lock.json')];

/**
 * Hashes the contents of all files that a build reads. The files' times would not do, because a checkout or a copy
 * changes them.
 */
function toDigest(program) {
  const hash = createHash('sha256');
  const settings = SETTINGS.map((path) => [path, readFileSync(path)]);
  const others = readFilesIn([dirname(contract), ...(isSource ? [ours('../dist')] : [])]);
  for (const [path, content] of [...settings, ...program, ...others]) {
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Runs all checks at the same time, and returns the output of the first failed one, or undefined if none failed. */
async function findFault() {
  const results = await Promise.allSettled(CHECKS.map((args) => promisify(execFile)(process.execPath, args)));
  const fault = results.find(({ status }) => status === 'rejected')?.reason;
  return fault && (fault.stdout + fault.stderr || String(fault));
}

// Reads the files only once, so that the digest belongs to exactly the files that are compiled.
const program = readProgram();
const digest = toDigest(program);
if (!existsSync('dist/built-from') || readFileSync('dist/built-from', 'utf8') !== digest) {
  say('Checking the contract, the handlers and the types');
  const fault = findUnfitClient(contract) ?? (await findFault());
  if (fault === undefined) {
    say('Compiling to dist/');
    await placeProgram(program, digest);
  } else process.stderr.write(fault);
  process.exitCode = Number(fault !== undefined);
}
