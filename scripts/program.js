/** Builds the program: `src/` and `handlers/` without types, and the files that they read. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findContract, readPackage } from './project.js';
import { cached, toJavaScript } from './typescript/erase-types.js';

const PARTS = ['src', 'handlers'];

/** The files below these folders of the current one, by their paths, as they are now. */
export function readFilesIn(folders) {
  const there = folders.filter((name) => existsSync(name));
  const entries = there.flatMap((name) => readdirSync(name, { recursive: true, withFileTypes: true }));
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return new Map(paths.sort().map((path) => [path, readFileSync(path)]));
}

export const readProgram = () => readFilesIn(PARTS);

/** Writes the program to a folder below the project's, which has its contract and its packages. */
export async function writeProgram(folder, files = readProgram()) {
  const { imports = {} } = readPackage();
  for (const [path, content] of files) {
    if (path.endsWith('.md')) continue;
    const isSource = path.endsWith('.ts');
    const file = join(folder, isSource ? path.replace(/ts$/, 'js') : path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, isSource ? await compile(content.toString(), path, imports) : content);
  }
  const contract = findContract();
  const clients = join(dirname(contract), 'clients');
  for (const path of [contract, clients].filter((path) => existsSync(path)))
    cpSync(path, join(folder, path), { recursive: true });
  const finish = fileURLToPath(new URL('finish.js', import.meta.url));
  execFileSync(process.execPath, [finish, resolve(folder)], { stdio: 'inherit' });
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

/**
 * The source without types. `#engine` and `#store` are replaced: the built program is in another folder than package.json says. It imports files of the program, whose names end with `.js`.
 */
function compile(source, path, doors) {
  return cached(JSON.stringify([path, doors, source]), async () => {
    const { default: ts } = await import('typescript');
    const names = [];
    const visit = (node) => {
      if (isNameOfImport(node, ts)) names.unshift(node);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true));
    let text = source;
    for (const { end, text: name } of names) {
      const file = doors[name] ? `./${relative(dirname(path), doors[name])}` : name;
      const made = file.startsWith('.') ? file.replace(/ts$/, 'js') : name;
      text = text.slice(0, end - 1 - name.length) + made + text.slice(end - 1);
    }
    return toJavaScript(text);
  });
}

function isNameOfImport({ kind, parent }, ts) {
  if (kind !== ts.SyntaxKind.StringLiteral) return false;
  const isDynamic = ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isDynamic || ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent);
}
