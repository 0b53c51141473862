/** Clients that consumers' tools generate from the served contract, against the running server. */
import { execFile } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { startCuttingProxy } from './cutting-proxy.ts';
import { buildRequest, KEY, startService } from './service.ts';

const CONSUMERS = new URL('./consumers/', import.meta.url);
const LARGEST = 2n ** 63n - 1n;
const run = promisify(execFile);
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
petstore.add({ name: 'Rex', categoryId: 7n, stauts: 'sold' });
// @ts-expect-error a field has another type
petstore.add({ name: 'Rex', categoryId: 7 });
// @ts-expect-error there is no such status
petstore.list('lost');
// @ts-expect-error there is no such field in a reply
petstore.add({ name: 'Rex', categoryId: 7n }).then((pet) => pet.colour);
`;

t.test('with openapi-typescript and openapi-fetch, fully typed, to the last page and the last digit', async (t) => {
  const { port } = await startService(t);
  const origin = `http://127.0.0.1:${port}`;
  const folder = t.testdir({ 'package.json': '{ "type": "module" }', 'wrong.ts': WRONG });
  writeFileSync(join(folder, 'petstore.ts'), astToString(await openapiTS(new URL(`${origin}/openapi.json`))));
  copyFileSync(new URL('typescript-client.ts', CONSUMERS), join(folder, 'typescript-client.ts'));
  t.strictSame(compile(join(folder, 'wrong.ts')), []);

  const { buildPetstore } = await import(pathToFileURL(join(folder, 'typescript-client.js')).href);
  const petstore = buildPetstore(origin, KEY);
  const categories = [LARGEST, -LARGEST - 1n, 2n ** 53n + 1n, 0n, ...Array.from({ length: 100 }, (_, n) => BigInt(n))];
  const added = [];
  for (const categoryId of categories) added.push(await petstore.add({ name: 'Rex', categoryId, status: 'sold' }));
  t.strictSame(added[0], { id: 1n, name: 'Rex', categoryId: LARGEST, status: 'sold' });
  await petstore.add({ name: 'Mia', categoryId: 7n, status: 'pending' });
  const listed = [];
  for await (const pet of petstore.list('sold')) listed.push(pet);
  t.strictSame(listed, added);
  await t.rejects(petstore.add({ name: '', categoryId: 7n }), {
    message: 'invalid_request: body.name must have at least 1 characters',
  });
  await addBehindACut(t, port, 106, (proxied) => buildPetstore(proxied, KEY).add({ name: 'Leo', categoryId: 7n }));
});

const PROGRAMS = {
  Python: ['python3', 'petstore.py'],
  Go: ['go', 'run', 'petstore.go'],
  Java: ['java', '-cp', '/usr/share/java/gson.jar', 'Petstore.java'],
};

for (const [language, [command = '', ...parts]] of Object.entries(PROGRAMS)) {
  t.test(`in ${language}, a create whose answer was lost adds one pet, and the list is exact to the end`, async (t) => {
    const { port, request } = await startService(t);
    for (let number = 1; number <= 45; number++) {
      await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: number, status: 'sold' } });
    }
    const file = fileURLToPath(new URL(parts.pop() as string, CONSUMERS));
    const { stdout } = await addBehindACut(t, port, 46, (origin) => run(command, [...parts, file, origin, KEY]));
    const sold = Array.from({ length: 45 }, (_, index) => `${index + 1} ${index + 1} Rex`);
    t.strictSame(stdout.trimEnd().split('\n'), [...sold, `46 ${LARGEST} Leo`]);
  });
}

/** Lets a program add Leo, the pet with this id, through a proxy that loses the answers to its creates until Leo is there. */
async function addBehindACut<T>(t: Test, port: number, id: number, add: (origin: string) => Promise<T>): Promise<T> {
  const request = buildRequest(port);
  const proxy = await startCuttingProxy(t, port);
  proxy.cutAnswerTo('Leo');
  const adding = add(`http://127.0.0.1:${proxy.port}`);
  while ((await request(`/v1/pets/${id}`)).status === 404) await wait(20);
  proxy.cutAnswerTo(undefined);
  const added = await adding;
  t.equal((await request(`/v1/pets/${id + 1}`)).status, 404, 'one was added');
  return added;
}

t.test('with oazapfts, which makes a client without a warning', async (t) => {
  const { port } = await startService(t);
  const origin = `http://127.0.0.1:${port}`;
  const folder = t.testdir({ 'package.json': '{ "type": "module" }' });
  const file = join(folder, 'petstore.ts');
  const { stdout, stderr } = await run(process.execPath, [OAZAPFTS, `${origin}/openapi.json`, file]);
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
