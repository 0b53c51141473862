/**
 * Builds this package into `dist/`, as JavaScript with blanks instead of types. `--types` also writes the declarations
 * for a tarball.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from './typescript/erase-types.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

/** Matches the files that a built package does not need. */
const IS_LEFT_OUT =
  /^(dist|bin|node_modules)\/|\.md$|^cli\/build-package\.js$|\/sources\.js$|^(package|tsconfig[.\w]*)\.json$/;

function readPackageFiles() {
  return readdirSync(PACKAGE, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(PACKAGE.length))
    .filter((path) => !IS_LEFT_OUT.test(path));
}

/**
 * Writes only files that have changed. Every changed file is replaced in one step, because a running server may load it
 * at the same time.
 */
export async function buildPackage(folder = join(PACKAGE, 'dist')) {
  const made = new Set(['cli/recheck.cjs']);
  for (const path of readPackageFiles()) {
    const content = readFileSync(join(PACKAGE, path));
    // JavaScript files are compiled like TypeScript, because some of them import TypeScript, such as the rules of the
    // lint. `compile` changes the names in these imports.
    const isCode = /\.[jt]s$/.test(path) && !path.endsWith('.d.ts');
    const target = isCode ? path.replace(/ts$/, 'js') : path;
    write(join(folder, target), isCode ? Buffer.from(await compile(content.toString(), path)) : content);
    made.add(target);
  }
  // Copies the code of recheck into this package. npm cannot bundle recheck, because the workspace shares it with the
  // root.
  write(join(folder, 'cli/recheck.cjs'), readFileSync(require.resolve('recheck/lib/browser.js')));
  for (const one of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(one.parentPath, one.name).slice(folder.length + 1);
    if (one.isFile() && !made.has(path) && !path.endsWith('.d.ts')) rmSync(join(folder, path));
  }
}

function write(file, content) {
  if (existsSync(file) && readFileSync(file).equals(content)) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, content);
  renameSync(`${file}.${process.pid}`, file);
}

/**
 * Removes the declarations that no entry point imports, directly or not. The compiler has written declarations for all
 * files.
 */
function dropUnusedDeclarations() {
  const { exports: entryPoints } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const used = new Set();
  const use = (file) => {
    if (used.has(file)) return;
    used.add(file);
    const imported = readFileSync(file, 'utf8').matchAll(/(?:from |import\(|import )['"](\.[^'"]*)\.ts['"]/g);
    for (const [, path] of imported) use(`${join(dirname(file), path)}.d.ts`);
  };
  for (const { types } of Object.values(entryPoints)) if (types) use(join(PACKAGE, types));
  for (const one of readdirSync(join(PACKAGE, 'dist'), { recursive: true, withFileTypes: true })) {
    const file = join(one.parentPath, one.name);
    if (file.endsWith('.d.ts') && !used.has(file)) rmSync(file);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isForTarball = process.argv.includes('--types');
  if (isForTarball) rmSync(join(PACKAGE, 'dist'), { recursive: true, force: true });
  await buildPackage();
  if (isForTarball) {
    const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
    execFileSync(process.execPath, [compiler, '-p', join(PACKAGE, 'tsconfig.types.json')], { stdio: 'inherit' });
    dropUnusedDeclarations();
  }
}
