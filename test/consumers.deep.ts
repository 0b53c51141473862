/** Clients that consumers' tools generate from the served contract, against the running server. */
import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import t from 'tap';
import ts from 'typescript';
import { startCuttingProxy } from './cutting-proxy.ts';
import { KEY, startService } from './service.ts';

const README = new URL('../README.md', import.meta.url);
const CLIENT = new URL('./consumers/typescript-client.ts', import.meta.url);
const OAZAPFTS = fileURLToPath(new URL('cli.js', import.meta.resolve('oazapfts')));

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  rewriteRelativeImportExtensions: true,
  strict: true,
  skipLibCheck: true,
  types: [],
};

/** Reads the compiler's own libraries once for all programs. */
const host = ts.createCompilerHost(OPTIONS);
const { getSourceFile } = host;
const libraries = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (file, ...rest) => {
  if (!/\/typescript\/lib\//.test(file)) return getSourceFile(file, ...rest);
  if (!libraries.has(file)) libraries.set(file, getSourceFile(file, ...rest));
  return libraries.get(file);
};

/** What the compiler says of a program whose main file is this; it leaves JavaScript beside each file. */
function compile(main: string): string[] {
  const program = ts.createProgram([main], OPTIONS, host);
  const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  return problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

/** Statements that must not compile; `@ts-expect-error` fails where one does. */
const WRONG = `
import { buildPetstore } from './typescript-client.ts';
const petstore = buildPetstore('', '');
// @ts-expect-error a field is missing
petstore.add({ name: 'Rex' });
// @ts-expect-error a field is misspelt
petstore.add({ name: 'Rex', categoryId: 7, stauts: 'sold' });
// @ts-expect-error a field has another type
petstore.add({ name: 'Rex', categoryId: '7' });
// @ts-expect-error there is no such status
petstore.list('lost');
// @ts-expect-error there is no such field in a reply
petstore.add({ name: 'Rex', categoryId: 7 }).then((pet) => pet.colour);
`;

t.test('with openapi-typescript and openapi-fetch, fully typed, to the last page and the last digit', async (t) => {
  const { port, request } = await startService(t);
  const origin = `http://127.0.0.1:${port}`;
  const folder = t.testdir({ 'package.json': '{ "type": "module" }', 'wrong.ts': WRONG });
  writeFileSync(join(folder, 'petstore.ts'), astToString(await openapiTS(new URL(`${origin}/openapi.json`))));
  copyFileSync(CLIENT, join(folder, 'typescript-client.ts'));
  t.strictSame(compile(join(folder, 'wrong.ts')), []);

  const { buildPetstore } = await import(pathToFileURL(join(folder, 'typescript-client.js')).href);
  const petstore = buildPetstore(origin, KEY);
  const added = [];
  for (let number = 1; number <= 45; number++) {
    added.push(await petstore.add({ name: `Pet ${number}`, categoryId: number, status: 'sold' }));
  }
  t.strictSame(added[44], { id: 45, name: 'Pet 45', categoryId: 45, status: 'sold' });
  await petstore.add({ name: 'Mia', categoryId: 7, status: 'pending' });

  const listed = [];
  for await (const pet of petstore.list('sold')) listed.push(pet);
  t.strictSame(listed, added);
  await t.rejects(petstore.add({ name: '', categoryId: 7 }), {
    message: 'invalid_request: body.name must have at least 1 characters',
  });

  await request('/v1/pets', { method: 'POST', body: '{"name":"Max","categoryId":9223372036854775807}' });
  const proxy = await startCuttingProxy(t, port);
  proxy.cutAnswerTo('Leo');
  const adding = buildPetstore(`http://127.0.0.1:${proxy.port}`, KEY).add({ name: 'Leo', categoryId: 7 });
  while ((await request('/v1/pets/48')).status === 404) await wait(20);
  proxy.cutAnswerTo(undefined);
  t.strictSame(await adding, { id: 48, name: 'Leo', categoryId: 7 });
  t.equal((await request('/v1/pets/49')).status, 404);

  t.strictSame(await petstore.getExact(47), { id: 47n, name: 'Max', categoryId: 9223372036854775807n });
  await t.rejects(petstore.getExact(4711), { message: 'pet_not_found: No pet has the id 4711.' });
});

t.test("the README's retries are those of the client in TypeScript", (t) => {
  const [, shown = ''] = /```ts\n(async add.*?)```/s.exec(readFileSync(README, 'utf8')) ?? [];
  const indented = shown.replace(/^(?=.)/gm, '    ').trimEnd();
  t.ok(shown !== '' && readFileSync(CLIENT, 'utf8').includes(`${indented},\n`));
  t.end();
});

t.test('with oazapfts, which makes a client without a warning', async (t) => {
  const { port } = await startService(t);
  const origin = `http://127.0.0.1:${port}`;
  const folder = t.testdir({ 'package.json': '{ "type": "module" }' });
  const file = join(folder, 'petstore.ts');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [OAZAPFTS, `${origin}/openapi.json`, file]);
  t.equal(stdout + stderr, '');
  t.strictSame(compile(file), []);

  const petstore = await import(pathToFileURL(join(folder, 'petstore.js')).href);
  petstore.defaults.baseUrl = `${origin}/v1`;
  petstore.defaults.headers = { authorization: `Bearer ${KEY}` };
  const pet = { id: 1, name: 'Rex', categoryId: 7, status: 'available' };
  t.match(await petstore.createPet({ name: 'Rex', categoryId: 7, status: 'available' }), { status: 201, data: pet });
  t.match(await petstore.listPets({ limit: 1, status: 'available' }), { status: 200, data: [pet] });
  t.match(await petstore.getPet(1), { status: 200, data: pet });
  t.match(await petstore.getPet(2), { status: 404, data: { code: 'pet_not_found' } });
});
