/** Builds the program: `src/` and `handlers/` without types, and the files that they read. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cached, toJavaScript } from './typescript/erase-types.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PARTS = ['src', 'handlers'];
/** The imports `#engine` and `#store` are replaced: the built program is in another folder than package.json says. */
const { imports: DOORS = {} } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The files below these folders, by their paths from the project's root, as they are now. */
export function readFilesIn(folders) {
  const entries = folders.flatMap((name) => readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true }));
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name).slice(ROOT.length));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(ROOT, path))]));
}

export const readProgram = () => readFilesIn(PARTS);

/** Writes the program to a folder below the project's, which has its contract and its packages. */
export async function writeProgram(folder, files = readProgram()) {
  for (const [path, content] of files) {
    if (path.endsWith('.md')) continue;
    const isSource = path.endsWith('.ts');
    const file = join(folder, isSource ? path.replace(/ts$/, 'js') : path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, isSource ? await compile(content.toString(), path) : content);
  }
  cpSync(join(ROOT, 'openapi/petstore.yaml'), join(folder, 'openapi/petstore.yaml'));
  if (existsSync(join(ROOT, 'openapi/clients')))
    cpSync(join(ROOT, 'openapi/clients'), join(folder, 'openapi/clients'), { recursive: true });
  execFileSync(process.execPath, [join(ROOT, 'scripts/finish.js'), folder], { stdio: 'inherit' });
}

/** Writes the program to a new folder, which then replaces `dist/`, once `makeWay` has ended. `note` becomes a file in it. */
export async function placeProgram(files, note = '', makeWay = async () => {}) {
  const folder = `${ROOT}dist.${process.pid}`;
  try {
    await writeProgram(folder, files);
    writeFileSync(join(folder, 'built-from'), note);
    await makeWay();
    rmSync(`${ROOT}dist`, { recursive: true, force: true });
    renameSync(folder, `${ROOT}dist`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The source without types. It imports files of the program, whose names end with `.js`. */
function compile(source, path) {
  return cached(JSON.stringify([path, DOORS, source]), async () => {
    const { default: ts } = await import('typescript');
    const names = [];
    const visit = (node) => {
      if (isNameOfImport(node, ts)) names.unshift(node);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true));
    let text = source;
    for (const { end, text: name } of names) {
      const file = DOORS[name] ? `./${relative(dirname(path), DOORS[name])}` : name;
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
