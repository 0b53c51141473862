/** Makes JavaScript of a source whose lines and columns stay as they are written. */
import { cached, toJavaScript } from './erase-types.js';

/** The source without types. What it imports by a relative path is compiled, too, so those names end with `.js`. */
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
