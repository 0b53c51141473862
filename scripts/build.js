/** `npm run build` checks the program and compiles it to `dist/`. If nothing has changed since the last build, it does nothing. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { placeProgram, readFilesIn, readProgram } from './program.js';
import { findCompilerSettings, findContractOrExit } from './project.js';

const contract = findContractOrExit();

const ownTool = (name) => fileURLToPath(new URL(name, import.meta.url));
const TYPESCRIPT = import.meta.resolve('typescript');
const COMPILER = fileURLToPath(new URL('../bin/tsc', TYPESCRIPT));
/** The checks. `generate` comes first, because its messages about missing handlers say more than the compiler's. */
const CHECKS = [
  [`--import=${new URL('typescript/register.js', import.meta.url)}`, ownTool('generate.ts'), '--check'],
  [COMPILER, '-p', findCompilerSettings(), '--pretty', String(process.stderr.isTTY ?? false)],
];
/** How files are checked, and the packages that are installed. */
const SETTINGS = ['package.json', 'tsconfig.json', fileURLToPath(new URL('../../.package-lock.json', TYPESCRIPT))];

/** A digest of the contents of all files that a build reads: their times mean nothing after a checkout or a copy. */
function toDigest(program) {
  const hash = createHash('sha256');
  const settings = SETTINGS.map((path) => [path, readFileSync(path)]);
  for (const [path, content] of [...settings, ...program, ...readFilesIn([dirname(contract), 'scripts'])]) {
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Runs the checks at the same time, and returns the output of the first that fails. */
async function findFault() {
  const results = await Promise.allSettled(CHECKS.map((args) => promisify(execFile)(process.execPath, args)));
  const fault = results.find(({ status }) => status === 'rejected')?.reason;
  return fault && (fault.stdout + fault.stderr || String(fault));
}

// Read once, so that the digest belongs to the files that are compiled.
const program = readProgram();
const digest = toDigest(program);
if (!existsSync('dist/built-from') || readFileSync('dist/built-from', 'utf8') !== digest) {
  const fault = await findFault();
  if (fault === undefined) await placeProgram(program, digest);
  else process.stderr.write(fault);
  process.exitCode = Number(fault !== undefined);
}
