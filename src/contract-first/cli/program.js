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

/**
 * True if this file is a source of the package. Then the package must be built before a service. False if it is built
 * code.
 */
export const isSource = existsSync(PACKAGE_BUILD);

/** Builds the package first, if this file is one of its sources. */
export async function prepareEngine() {
  if (isSource) await (await import(PACKAGE_BUILD.href)).buildPackage();
}

/**
 * Reads all files in these folders and below. The keys of the result are paths from the current folder. Skips a folder
 * with a package.json, because it is another package.
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

/**
 * The type declarations of the built program, for an app in TypeScript that imports it. The only export is `service`.
 */
const DECLARATION = `import type { Service } from 'contract-first/run';
export declare const service: Service;
`;

export const readProgram = () => readFilesIn(PARTS);

/**
 * Returns an error message if `clients/` contains something other than files and folders. The server sends this folder
 * to everybody, and a symbolic link in it could lead to any file of the machine. Without such an entry, returns
 * undefined.
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

/**
 * Writes the program to a folder, which must be inside the project, because the program imports packages from the
 * project's node_modules.
 */
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
 * Writes the program to a new folder, waits for `makeWay`, and then replaces `dist/` by the new folder. The file
 * `built-from` in it contains `note`.
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
