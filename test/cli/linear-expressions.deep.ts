/**
 * Regular expressions that match text from outside must take linear time: those in our code, in libraries and in the
 * contract.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { degreeOf } from '../../src/contract-first/cli/patterns.ts';
import { addKnownFormats } from '../../src/contract-first/engine/schema/ajv.ts';
import { NAME_PATTERN } from '../../src/contract-first/store/api-keys.ts';
import { RATE_PATTERN } from '../../src/contract-first/store/rates.ts';
import { load, operation, withPaths } from '../added-operations.ts';
import { handlersFor, startService } from '../service.ts';

const SOURCES = new URL('../../src/', import.meta.url);
const FORMATS = new URL('../../node_modules/ajv-formats/dist/formats.js', import.meta.url);

/** Enough steps for each expression. In a contract, the checker gets fewer. */
const BUDGET = { one: 1_000_000_000, left: Number.POSITIVE_INFINITY };

function check(t: Test, expressions: RegExp[]): void {
  t.not(expressions.length, 0);
  for (const expression of expressions) t.equal(degreeOf(expression, BUDGET), 1, String(expression));
}

/** Returns the regular expression literals of a file whose parent node is wanted. */
function literalsOf(file: URL, isWanted = (_place: ts.Node) => true): RegExp[] {
  const literals: RegExp[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node) && isWanted(node.parent)) {
      const end = node.text.lastIndexOf('/');
      literals.push(new RegExp(node.text.slice(1, end), node.text.slice(end + 1)));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file.href, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
  return literals;
}

/** Returns the regular expressions that are constructed while `run` runs. */
async function madeBy(run: () => unknown): Promise<RegExp[]> {
  const made: RegExp[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(...args) {
      const expression = Reflect.construct(...args);
      made.push(expression);
      return expression;
    },
  });
  await run();
  globalThis.RegExp = original;
  return made;
}

t.test("each regular expression in the server's code runs in linear time", async (t) => {
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  // Excluded are tools and tests, which read text of their developer, the reference page, which reads its own text, and
  // the built package, which repeats its sources.
  const isServer = (name: string) =>
    /\.[jt]s$/.test(name) && !/^contract-first.(dist|cli|bin|testing|contract.page|engine.docs.assets)\b/.test(name);
  const files = names.filter(isServer).map((name) => new URL(name, SOURCES));
  check(t, [...files.flatMap((file) => literalsOf(file)), new RegExp(RATE_PATTERN), new RegExp(NAME_PATTERN, 'u')]);
});

t.test('the regular expressions that check JSON Schema formats run in linear time', async (t) => {
  const ajv = new Ajv2020();
  addKnownFormats(ajv);
  check(t, [
    ...Object.values(ajv.formats).filter((format) => format instanceof RegExp),
    // The literals that functions for formats use.
    ...literalsOf(FORMATS, ts.isVariableDeclaration),
  ]);
});

t.test('regular expressions that libraries build from a contract and its paths run in linear time', async (t) => {
  const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } });
  const at = (path: string) => [
    path,
    {
      get: operation(path.replace(/\W/g, ''), {
        parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => inPath(name as string)),
      }),
    },
  ];
  const paths = [
    '/at/{lat},{lon},{alt}:all',
    '/diff/{a}...{b}',
    '/file/{name}.{type}',
    '/on/{year}-{month}-{day}',
    '/v/{a}:{b}~{c}.d',
  ];
  const contract = await load(t, withPaths(Object.fromEntries(paths.map(at))));
  const echo = () => ({ status: 200, body: '' });
  const handlers = {
    ...handlersFor(contract),
    ...Object.fromEntries(paths.map((path) => [path.replace(/\W/g, ''), echo])),
  };
  const expressions = await madeBy(() => startService(t, { contract, handlers }));
  check(t, expressions);
});
