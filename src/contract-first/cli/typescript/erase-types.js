/**
 * Replaces types by blanks, so that lines and columns stay the same, and stack traces and coverage need no source maps.
 * Results are cached in `node_modules/.cache` by the hash of the source, because one run of the tests starts hundreds
 * of processes.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The nearest existing folder `node_modules`, which contains the cache. */
const MODULES = createRequire(import.meta.url)
  .resolve.paths('ts-blank-space')
  .find((folder) => existsSync(folder));
const CACHE = join(MODULES, '.cache/erased-types/');
const IS_TYPESCRIPT = /^file:(?!.*\/node_modules\/).*\.ts$/;

export async function load(url, context, nextLoad) {
  if (!IS_TYPESCRIPT.test(url)) return nextLoad(url, context);
  return { format: 'module', shortCircuit: true, source: await toJavaScript(readFileSync(fileURLToPath(url), 'utf8')) };
}

export function toJavaScript(source) {
  return cached(source, async () => (await import('ts-blank-space')).default(source));
}

/**
 * Returns the result for this text from the cache, which all processes share. If the cache does not have it, calls
 * `make` and stores its result.
 */
async function cached(text, make) {
  const file = `${CACHE}${createHash('sha256').update(text).digest('hex')}.js`;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const made = await make();
    mkdirSync(CACHE, { recursive: true });
    // Writes to another name and renames the file in one step, so that another process never reads an incomplete file.
    writeFileSync(`${file}.${process.pid}`, made);
    renameSync(`${file}.${process.pid}`, file);
    return made;
  }
}

/**
 * Returns the source as JavaScript. Relative imports of `.ts` files become imports of `.js` files, because these files
 * are also compiled.
 */
export function compile(source, path) {
  return cached(JSON.stringify([path, source]), async () => {
    const { default: ts } = await import('typescript');
    const names = [];
    const visit = (node) => {
      if (isNameOfImport(node, ts)) names.unshift(node);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true));
    let text = source;
    for (const { end, text: name } of names) {
      if (name.startsWith('.')) text = `${text.slice(0, end - 1).replace(/ts$/, 'js')}${text.slice(end - 1)}`;
    }
    return toJavaScript(text);
  });
}

function isNameOfImport({ kind, parent }, ts) {
  if (kind !== ts.SyntaxKind.StringLiteral) return false;
  const isDynamic = ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isDynamic || ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent);
}
