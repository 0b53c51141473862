/**
 * Builds the program of a service: `src/` and `handlers/` without types, the files that the program reads, and the
 * finished contract.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findContract } from './project.js';
import { compile } from './typescript/erase-types.js';

const PACKAGE_BUILD = new URL('build-package.js', import.meta.url);
const FINISH = fileURLToPath(new URL('finish.js', import.meta.url));
const PARTS = ['src', 'handlers'];

/** True if this file is a source of the package, not built code. Then the package is built before each service. */
export const isSource = existsSync(PACKAGE_BUILD);

/** Builds the package first, if this file is one of its sources. */
export async function prepareEngine() {
  if (isSource) await (await import(PACKAGE_BUILD.href)).buildPackage();
}

/**
 * Reads all files in these folders, by their paths from the current folder. A folder with a package.json is skipped,
 * because it is another package.
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

/** The declarations for an app in TypeScript that imports the built program. They expose only `service`. */
const DECLARATION = `import type { Service } from 'contract-first/run';
export declare const service: Service;
`;

export const readProgram = () => readFilesIn(PARTS);

/**
 * Returns the message for an entry in `clients/` that is neither a file nor a folder, because a symbolic link could
 * send any file of the machine to everybody. Returns undefined if there is none.
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

/** Writes the program to a folder. The folder must be in the project, so that the program finds the packages. */
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

/**
 * Writes the program to a new folder, waits for `makeWay`, and then replaces `dist/` by the folder. `note` is written
 * into a file in it.
 */
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
