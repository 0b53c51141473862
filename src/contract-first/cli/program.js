/** Builds the program of a service: `src/` and `handlers/` without types, the files that they read, and the finished contract. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findContract } from './project.js';
import { compile } from './typescript/erase-types.js';

const PACKAGE_BUILD = new URL('build-package.js', import.meta.url);
const FINISH = fileURLToPath(new URL('finish.js', import.meta.url));
const PARTS = ['src', 'handlers'];

/** Whether this is the package's source: it is also built, before a service that imports it. */
export const isSource = existsSync(PACKAGE_BUILD);

/** Builds the package again if its sources are here. */
export async function prepareEngine() {
  if (isSource) await (await import(PACKAGE_BUILD.href)).buildPackage();
}

/**
 * Returns the files below these folders, by their paths from the current folder. A folder with a package.json is another package, and left
 * out.
 */
export function readFilesIn(folders) {
  const entries = folders.flatMap((folder) => {
    if (!existsSync(folder) || existsSync(join(folder, 'package.json'))) return [];
    const inside = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return inside.flatMap((one) => {
      const path = join(folder, one.name);
      return one.isDirectory() ? [...readFilesIn([path])] : one.isFile() ? [[path, readFileSync(path)]] : [];
    });
  });
  return new Map(entries);
}

/** The declarations for an app in TypeScript that serves the program. The types of the program's parts are not visible from outside. */
const DECLARATION = `import type { Service } from 'contract-first/run';
export declare const service: Service;
`;

export const readProgram = () => readFilesIn(PARTS);

/**
 * Names files that a server cannot or must not send: a link could show any file of the machine to everybody. Undefined if there are none.
 */
export function findUnfitClient(contract) {
  const clients = join(dirname(contract), 'clients');
  if (!existsSync(clients)) return undefined;
  const entries = readdirSync(clients, { recursive: true, withFileTypes: true });
  const unfit = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  return (
    unfit &&
    `${join(unfit.parentPath, unfit.name)} is neither a file nor a folder: remove it, since ${clients}/ is sent to everybody.\n`
  );
}

/** Writes the program to a folder below the project's folder, so that it finds the contract and the packages. */
export async function writeProgram(folder, files = readProgram()) {
  for (const [path, content] of files) {
    if (path.endsWith('.md')) continue;
    const isSource = path.endsWith('.ts');
    const file = join(folder, isSource ? path.replace(/ts$/, 'js') : path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, isSource ? await compile(content.toString(), path) : content);
  }
  writeFileSync(join(folder, 'src/generated/service.d.ts'), DECLARATION);
  const contract = findContract();
  const clients = join(dirname(contract), 'clients');
  mkdirSync(join(folder, dirname(contract)), { recursive: true });
  if (existsSync(clients)) cpSync(clients, join(folder, clients), { recursive: true });
  execFileSync(process.execPath, [FINISH, resolve(folder), contract], { stdio: 'inherit' });
}

/** Writes the program to a new folder, which then replaces `dist/`, once `makeWay` has ended. `note` becomes a file in it. */
export async function placeProgram(files, note = '', makeWay = async () => {}) {
  const folder = `dist.${process.pid}`;
  try {
    await writeProgram(folder, files);
    writeFileSync(join(folder, 'built-from'), note);
    await makeWay();
    rmSync('dist', { recursive: true, force: true });
    renameSync(folder, 'dist');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
