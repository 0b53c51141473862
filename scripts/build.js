/** `npm run build`: checks the program and makes `dist/` of it. Where nothing has changed since that was done, it stays. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { placeProgram, readFilesIn, readProgram } from './program.js';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const TYPESCRIPT = import.meta.resolve('typescript');
const COMPILER = fileURLToPath(new URL('../bin/tsc', TYPESCRIPT));
/** First that what is made from the contract is fresh, and every operation has its handler: the compiler would say less. */
const CHECKS = [
  ['--import=./scripts/typescript/register.js', 'scripts/generate.ts', '--check'],
  [COMPILER, '-p', 'scripts/tsconfig.build.json', '--pretty', String(process.stderr.isTTY ?? false)],
];
/** How files are checked, and the packages that are installed. */
const SETTINGS = ['package.json', 'tsconfig.json', fileURLToPath(new URL('../../.package-lock.json', TYPESCRIPT))];

/** Of the contents of all that a build reads: times say nothing where a file is put back or copied. */
function toDigest(program) {
  const hash = createHash('sha256');
  const settings = SETTINGS.map((path) => [path, readFileSync(path)]);
  for (const [path, content] of [...settings, ...program, ...readFilesIn(['openapi', 'scripts'])]) {
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Runs the checks at once. What the first that fails has said, if any does. */
async function findFault() {
  const results = await Promise.allSettled(CHECKS.map((args) => promisify(execFile)(process.execPath, args)));
  const fault = results.find(({ status }) => status === 'rejected')?.reason;
  return fault && (fault.stdout + fault.stderr || String(fault));
}

// Read once: what is compiled is what the digest is of.
const program = readProgram();
const digest = toDigest(program);
if (!existsSync('dist/built-from') || readFileSync('dist/built-from', 'utf8') !== digest) {
  const fault = await findFault();
  if (fault === undefined) await placeProgram(program, digest);
  else process.stderr.write(fault);
  process.exitCode = Number(fault !== undefined);
}
