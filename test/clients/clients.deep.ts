/** The clients to copy, and one that a tool generates, against the running server, with a proxy that faults between. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import t, { type Test } from 'tap';
import { KEY, readOurs, type Service, startService } from '../service.ts';
import { compile } from './compile.ts';
import { FINAL, PASSING, refuse, WAIT, WAITING } from './faults.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import { buildPrograms, CLIENTS, LANGUAGES, type Run, TIMEOUT } from './programs.ts';

const LARGEST = 2n ** 63n - 1n;
const OAZAPFTS = fileURLToPath(new URL('cli.js', import.meta.resolve('oazapfts')));

/** More than fit on a page. */
const SOLD = 130;

/** What an example prints: those that were there, and each Leo that was added. */
function toLines(added: number): string {
  const sold = Array.from({ length: SOLD }, (_, index) => `${index + 1} ${index + 1} Rex\n`);
  const leos = Array.from({ length: added }, (_, index) => `${SOLD + index + 1} ${LARGEST} Leo\n`);
  return [...sold, ...leos].join('');
}

/** Each fault happens once to each request. */
async function tryPassing(t: Test, run: Run, proxy: FaultyProxy): Promise<void> {
  let added = 0;
  for (const [name, fault] of Object.entries(PASSING)) {
    t.test(`${name}: it tries again, adds one animal, and reads every page`, async (t) => {
      proxy.begin(fault, (now, before) => !before.some(({ method, url }) => method === now.method && url === now.url));
      const { code, stdout, stderr } = await run(proxy.origin, randomUUID());
      added++;
      t.strictSame({ code, stdout, stderr }, { code: 0, stdout: toLines(added), stderr: '' });
      const asked = proxy.arrived.filter(({ isLate }) => !isLate).map(({ method, url }) => `${method} ${url}`);
      const tries = name.endsWith('behind the answer') ? 1 : 2;
      t.strictSame(
        asked,
        [...new Set(asked)].flatMap((request) => Array(tries).fill(request)),
      );
      t.equal(asked.length, 3 * tries);
    });
  }

  for (const [name, fault] of Object.entries(WAITING)) {
    t.test(`a Retry-After of ${name}: it waits so long`, async (t) => {
      proxy.begin(fault, (_, before) => before.length === 0);
      t.match(await run(proxy.origin, randomUUID()), { code: 0, stdout: toLines(++added) });
      const [first = 0, second = 0] = proxy.arrived.map(({ at }) => at);
      t.ok(second - first >= WAIT, String(second - first));
      t.ok(second - first < 10 * WAIT);
    });
  }

  t.test('while it fails again and again: it ends after six times, each wait longer than the one before', async (t) => {
    proxy.begin(refuse(503), () => true);
    t.match(await run(proxy.origin, randomUUID()), { code: 1, stderr: /503 code_503: No. \(request r-1\)/ });
    added++;
    t.equal(proxy.arrived.length, 6);
    const waits = proxy.arrived.slice(1).map(({ at }, index) => at - (proxy.arrived[index]?.at as number));
    t.ok((waits.at(-1) as number) > 4 * (waits[0] as number) || (waits.at(-1) as number) > 100, String(waits));
  });

  t.test(
    'without any answer it ends, and another run with the same Idempotency-Key adds no second animal',
    async (t) => {
      const once = randomUUID();
      proxy.begin(
        (socket) => socket.destroy(),
        () => true,
      );
      t.match(await run(proxy.origin, once), { code: 1, stderr: /0 no_answer: / });
      proxy.begin(undefined, () => false);
      t.match(await run(proxy.origin, once), { code: 0, stdout: toLines(++added) });
    },
  );
}

async function tryFinal(t: Test, run: Run, proxy: FaultyProxy): Promise<void> {
  for (const [name, [fault, message]] of Object.entries(FINAL)) {
    t.test(`${name}: it asks once`, async (t) => {
      proxy.begin(fault, () => true);
      const { code, stderr } = await run(proxy.origin, randomUUID());
      t.equal(code, 1);
      t.match(stderr, message);
      t.equal(proxy.arrived.length, 1);
    });
  }
}

async function tryOrigins(t: Test, run: Run, { port }: Service): Promise<void> {
  for (const origin of [`127.0.0.1:${port}`, `localhost:${port}`, 'http://no-such-host.invalid', 'petstore']) {
    t.test(`${origin}, which is no origin: it does not wait`, async (t) => {
      const before = performance.now();
      const { code, stderr } = await run(origin, randomUUID());
      t.equal(code, 1);
      t.match(stderr, /https?:\/\/|no_answer|host|URL|URI/i);
      t.notMatch(stderr, KEY);
      t.ok(performance.now() - before < 6 * TIMEOUT);
    });
  }
}

/** Statements that must not compile; `@ts-expect-error` fails where one does. */
const WRONG = `
import { buildPetstore } from './petstore-client.ts';
const petstore = buildPetstore('', '');
// @ts-expect-error a field is missing
petstore.add({ name: 'Rex' }, '');
// @ts-expect-error a field is misspelt
petstore.add({ name: 'Rex', categoryId: 7n, stauts: 'sold' }, '');
// @ts-expect-error a field has another type
petstore.add({ name: 'Rex', categoryId: 7 }, '');
// @ts-expect-error the key is missing
petstore.add({ name: 'Rex', categoryId: 7n });
// @ts-expect-error there is no such status
petstore.list('lost');
// @ts-expect-error there is no such field in a reply
petstore.add({ name: 'Rex', categoryId: 7n }, '').then((pet) => pet.colour);
`;

t.test('with openapi-typescript and openapi-fetch, fully typed, to the last page and the last digit', async (t) => {
  const { port } = await startService(t);
  const origin = `http://127.0.0.1:${port}`;
  const folder = t.testdir({ 'package.json': '{ "type": "module" }', 'wrong.ts': WRONG });
  writeFileSync(join(folder, 'petstore.ts'), astToString(await openapiTS(new URL(`${origin}/openapi.json`))));
  copyFileSync(new URL('typescript/petstore-client.ts', CLIENTS), join(folder, 'petstore-client.ts'));
  t.strictSame(compile(join(folder, 'wrong.ts')), []);

  const { buildPetstore } = await import(pathToFileURL(join(folder, 'petstore-client.js')).href);
  const petstore = buildPetstore(origin, KEY);
  const categories = [LARGEST, -LARGEST - 1n, 2n ** 53n + 1n, 0n, ...Array.from({ length: 100 }, (_, n) => BigInt(n))];
  const added = [];
  for (const categoryId of categories) {
    added.push(await petstore.add({ name: 'Rex', categoryId, status: 'sold' }, randomUUID()));
  }
  t.strictSame(added[0], { id: 1n, name: 'Rex', categoryId: LARGEST, status: 'sold' });
  await petstore.add({ name: 'Mia', categoryId: 7n, status: 'pending' }, randomUUID());
  const listed = [];
  for await (const pet of petstore.list('sold')) listed.push(pet);
  t.strictSame(listed, added);
  await t.rejects(petstore.add({ name: '', categoryId: 7n }, randomUUID()), {
    message: /^400 invalid_request: body.name must have at least 1 characters \(request .+\)$/,
    status: 400,
    code: 'invalid_request',
  });
});

t.test('each client is one file of less than 120 lines', async (t) => {
  for (const [name, { client }] of Object.entries(LANGUAGES)) {
    const text = readFileSync(new URL(`${name}/${client.replace(/.*\//, '')}`, CLIENTS), 'utf8');
    t.ok(text.split('\n').length - 1 < 120, name);
  }
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

const programs = await buildPrograms(t, (await readOurs()).json);

// They wait most of the time. They come last: a compiler, as above, takes the time of the server and the proxy, which are in this process.
t.jobs = programs.size;

for (const [name, run] of programs) {
  t.test(`in ${name}`, { buffered: true }, async (t) => {
    const service = await startService(t);
    for (let number = 1; number <= SOLD; number++) {
      await service.request('/v1/pets', {
        method: 'POST',
        body: { name: 'Rex', categoryId: number, status: 'sold' },
      });
    }
    const proxy = await startFaultyProxy(t, service.port);
    await tryPassing(t, run, proxy);
    await tryFinal(t, run, proxy);
    await tryOrigins(t, run, service);
  });
}
