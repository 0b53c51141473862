import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';

/** Calls that return no promise: they throw synchronously, so that the `try` catches their errors. */
const AT_ONCE = ['Readable.from', 'document.toJS'];

const FOLDERS = ['src', 'handlers', 'scripts'];

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));

/**
 * True if the node is in the try block of an async function: a promise that is returned there without `await` rejects
 * after the `catch`.
 */
function isCaughtInAsync(node: ts.Node): boolean {
  for (let at = node; at.parent; at = at.parent) {
    if (ts.isFunctionLike(at)) return false;
    if (ts.isTryStatement(at.parent) && at.parent.tryBlock === at && at.parent.catchClause) return isInAsync(at);
  }
  return false;
}

function isInAsync(node: ts.Node): boolean {
  if (!ts.isFunctionLike(node)) return isInAsync(node.parent);
  return (ts.getCombinedModifierFlags(node as ts.Declaration) & ts.ModifierFlags.Async) !== 0;
}

const mayFailLater = (node: ts.Node) => ts.isCallExpression(node) && !AT_ONCE.includes(node.expression.getText());

/**
 * Finds promises whose rejection bypasses `try` or `catch`: those returned in a try block without `await`, and
 * `Promise.resolve(call())`.
 */
function mistakesIn(file: string, text = readFileSync(file, 'utf8')): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const note = (node: ts.Node) => found.push(`${file}: ${node.getText()}`);
  function visit(node: ts.Node): void {
    if (
      ts.isCallExpression(node) &&
      node.expression.getText() === 'Promise.resolve' &&
      node.arguments.some(ts.isCallExpression)
    )
      note(node);
    if (ts.isReturnStatement(node) && node.expression && mayFailLater(node.expression) && isCaughtInAsync(node))
      note(node);
    ts.forEachChild(node, visit);
  }
  visit(source);
  return found;
}

t.test(
  'every promise in a `try` block is awaited there, so that the `catch` block handles its rejection',
  async (t) => {
    t.strictSame(
      FOLDERS.flatMap(filesBelow).flatMap((file) => mistakesIn(file)),
      [],
    );
    const wrong = 'async () => { try { return check(); } catch {} }; Promise.resolve(check()).then(f, g);';
    t.strictSame(mistakesIn('a.ts', wrong), ['a.ts: return check();', 'a.ts: Promise.resolve(check())']);
    t.strictSame(mistakesIn('a.ts', 'async () => { try { return await check(); } catch {} }; Promise.resolve([])'), []);
  },
);
