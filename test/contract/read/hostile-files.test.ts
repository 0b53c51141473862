/**
 * Files that nobody writes by hand: each must be refused with the position of the mistake, and none may end the
 * process.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { toLocated } from '../../../src/contract-first/contract/located-problems.ts';
import { bundleFiles } from '../../../src/contract-first/contract/read/bundle.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { ContractError } from '../../../src/contract-first/engine/contract/contract.ts';

const HEAD = 'openapi: 3.1.0\ninfo: { title: Other, version: "1" }\n';
const PATHS = 'paths: { /a: { get: { operationId: getA, responses: { "200": { description: Done. } } } } }\n';

/** Returns the problems of a contract that is a file next to these other files. */
async function saidOf(t: Test, text: string, files: Record<string, string> = {}): Promise<string[]> {
  const folder = t.testdir({ 'a.yaml': text, ...files });
  try {
    await loadContract(join(folder, 'a.yaml'));
    return [];
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return (await toLocated(error.found, join(folder, 'a.yaml'))).map((line) => line.replaceAll(`${folder}/`, ''));
  }
}

t.test('a contract with more than 200 nested objects and lists is rejected, in YAML and in JSON', async (t) => {
  const tooDeep = 'more than 200 objects and lists are nested';
  const nest = (start: string, end: string, levels: number) => start.repeat(levels) + 1 + end.repeat(levels);
  const blocks = Array.from({ length: 300 }, (_, level) => `${' '.repeat(level + 1)}a:\n`).join('');
  const cases: [text: string, said: string[]][] = [
    ['['.repeat(900), [`a.yaml:1:202: ${tooDeep}`]],
    [`${HEAD}${PATHS}x-a: ${nest('[', ']', 900)}\n`, [`a.yaml:4:206: ${tooDeep}`]],
    [`${HEAD}${PATHS}x-a: ${nest('{ a: ', ' }', 5000)}\n`, [`a.yaml:4:1006: ${tooDeep}`]],
    [`${HEAD}${PATHS}x-a:\n${blocks}${' '.repeat(301)}b\n`, [`a.yaml:205:202: ${tooDeep}`]],
    [`{ "x": ${nest('[', ']', 50_000)} }`, [`a.yaml:1:208: ${tooDeep}`]],
    [`${HEAD}${PATHS}x-a: ${nest('[', ']', 150)}\n`, []],
    [JSON.stringify({ openapi: '3.1.0', info: { title: '[{'.repeat(300), version: '1' }, paths: {} }), []],
  ];
  for (const [text, said] of cases) t.strictSame(await saidOf(t, text), said, text.slice(0, 150));
});

t.test('a $ref or YAML alias that leads back to itself is an error with its position, even across files', async (t) => {
  const withResponse = ($ref: string) => `${HEAD}paths:
  /a:
    get:
      operationId: getA
      responses: { '200': { $ref: '${$ref}' } }
`;
  const files = {
    'one.yaml': "a: { $ref: 'two.yaml#/a' }\n",
    'two.yaml': "a: { $ref: 'one.yaml#/a' }\n",
    'own.yaml': '{ $ref: own.yaml }\n',
    'inner.yaml': "a: { $ref: '#/b' }\nb: { $ref: '#/a' }\n",
  };
  t.strictSame(await saidOf(t, withResponse('one.yaml#/a'), files), [
    'one.yaml:1:1: $ref two.yaml#/a leads back to itself',
    'two.yaml:1:1: $ref one.yaml#/a leads back to itself',
  ]);
  t.strictSame(await saidOf(t, withResponse('own.yaml'), files), ['own.yaml:1:1: $ref own.yaml leads back to itself']);
  t.strictSame(await saidOf(t, withResponse('inner.yaml#/a'), files), [
    'inner.yaml:1:1: $ref #/b leads back to itself',
    'inner.yaml:2:1: $ref #/a leads back to itself',
  ]);
  for (const [alias, position] of [
    ['&a [*a]', '4:10'],
    ['&a { b: &b { c: *a } }', '4:22'],
  ] as const)
    t.strictSame(await saidOf(t, `${HEAD}${PATHS}x-a: ${alias}\n`), [`a.yaml:${position}: *a is a part of itself`]);
});

t.test('a second YAML document in a contract is rejected with the line where it begins', async (t) => {
  t.strictSame(await saidOf(t, `${HEAD}${PATHS}---\na: 1\n`), ['a.yaml:4:1: a second document begins here']);
});

t.test('a contract in which a $ref is reached through more than 500 others is rejected', async (t) => {
  const names = Array.from({ length: 2000 }, (_, index) => `S${index}`);
  const schemas = names.map(
    (name, index) =>
      `    ${name}: { properties: { a: { $ref: '#/components/schemas/${names[index + 1] ?? 'S0'}' } } }\n`,
  );
  const content = "content: { application/json: { schema: { $ref: '#/components/schemas/S0' } } }";
  const paths = `paths: { /a: { get: { operationId: getA, responses: { '200': { description: Done., ${content} } } } } }\n`;
  t.match(await saidOf(t, `${HEAD}${paths}components:\n  schemas:\n${schemas.join('')}`), [
    /^a.yaml:\d+:\d+: operation getA: \$ref #\/components\/schemas\/S500 is reached through more than 500 others$/,
  ]);
});

t.test('an operationId that is too long for a file name is replaced by a shorter unique one', async (t) => {
  const file = join(t.testdir(), 'a.yaml');
  const responses = "responses: { '200': { description: Done. } }";
  const long = 'b'.repeat(300);
  const items = [
    `/a: { get: { operationId: ${'a'.repeat(300)}, ${responses} } }`,
    `/${long}: { get: { ${responses} }, post: { ${responses} } }`,
    `/${long}b: { get: { ${responses} } }`,
  ];
  writeFileSync(file, `${HEAD}paths: { ${items.join(', ')} }\n`);
  const ids = [...(await loadContract(file)).operations.keys()];
  t.equal(ids[0], 'getA');
  t.equal(new Set(ids).size, 4);
  for (const id of ids) t.ok(id.length <= 200, id);
});

t.test('a YAML merge key (<<) whose value is not an object is an error', async (t) => {
  t.match(await saidOf(t, `${HEAD}${PATHS}x-a: { <<: 5 }\n`), [/Merge sources must be maps/]);
});

t.test('if a file of a contract cannot be read, the error contains the cause', async (t) => {
  const read = async () => {
    throw new Error('the disk has failed');
  };
  await t.rejects(bundleFiles(join(t.testdir({ 'a.yaml': HEAD }), 'a.yaml'), read), { message: /the disk has failed/ });
});
