/**
 * Runs the clients that users may copy, and a client that a tool generates, against the running server, through a proxy
 * that spoils replies.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import t, { type Test } from 'tap';
import { listen } from '../cutting-proxy.ts';
import { KEY, pagesFrom, readOurs, type Service, startService } from '../service.ts';
import { FAULTS, type Fault, type Outcome, type Row, refuse, WAIT, WAITING } from './faults.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { buildPrograms, CLIENTS, compile, type Job, LANGUAGES, type Result } from './programs.ts';

const LARGEST = 2n ** 63n - 1n;
const OAZAPFTS = fileURLToPath(new URL('cli.js', import.meta.resolve('oazapfts')));

/** More pets than fit on a page, with category ids at both ends of the 64-bit integers. */
const PENDING = Array.from({ length: 130 }, (_, index) => {
  const category = BigInt(index) + (index % 2 === 0 ? -LARGEST - 1n : LARGEST - 1000n);
  return `${index + 1} ${category} Rex pending`;
});

/** Limits that are short enough for the tests to end soon, and longer than an answer takes on a busy machine. */
const LIMITS = { attempts: 2, timeout: 4000, total: 30_000 };

interface Bench {
  call: (job: Job) => Promise<Result>;
  service: Service;
  /** The origin of a server that must get no requests. */
  elsewhere: string;
  /**
   * Waits until fewer than `AT_ONCE` runs are going on. The servers are in this process: more runs would only wait for
   * them.
   */
  enter: () => Promise<() => void>;
}

const AT_ONCE = 24;

function buildGate(): Bench['enter'] {
  const waiting: (() => void)[] = [];
  let free = AT_ONCE;
  const leave = () => {
    free++;
    waiting.shift()?.();
  };
  return async () => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    free--;
    return leave;
  };
}

/** The result of a client whose requests met a fault, and these requests. */
interface Ran extends Result {
  /** The name of the animal that the client adds; undefined if it lists animals. */
  name: string | undefined;
  requests: string[];
  /** The wait before each further request, in milliseconds. */
  waits: number[];
}

type Operation = 'add' | 'list';

async function run(
  { service, elsewhere, enter, call }: Bench,
  operation: Operation,
  [fault, when]: [fault?: Fault, when?: 'once' | 'always'] = [],
  more: Partial<Job> | ((url: string) => string) = {},
): Promise<Ran> {
  const leave = await enter();
  const { url, arrived, close } = await startFaultyProxy(service.port, elsewhere, fault, when);
  const once = randomUUID();
  const job: Job = {
    url,
    key: KEY,
    limits: LIMITS,
    ...(operation === 'add' && { name: `R${once}`, once }),
    ...(typeof more === 'function' ? { url: more(url) } : more),
  };
  const result = await call(job);
  close();
  leave();
  const inTime = when === 'always' ? arrived : arrived.filter(({ isLate }) => !isLate);
  const requests = inTime.map(({ method, url }) => `${method} ${url}`);
  const waits = inTime.slice(1).map(({ at }, index) => at - (inTime[index]?.at as number));
  return { ...result, name: job.name, requests, waits };
}

/** The client has read every page, or has added the animal. */
function isRight(t: Test, { pets, error, name }: Ran): void {
  t.equal(error, undefined, JSON.stringify(error));
  if (name === undefined) t.strictSame(pets, PENDING);
  else t.match(pets, [new RegExp(`^\\d+ ${LARGEST} ${name} sold$`)]);
}

/** Checks that the client throws its only class of error, with a message of one short line without the API key. */
function isError(t: Test, { pets, error }: Ran, expected: Row['error'] = {}): void {
  t.match(error, { isOurs: true, ...expected });
  const { status, code = '', requestId, message = '', cause = '' } = error ?? {};
  t.ok(message.startsWith(`${status} ${code.replace(/\p{Cc}/gu, ' ')}: `), message);
  t.ok(message.length < 600 && !/\p{Cc}/u.test(message) && !message.includes(KEY), message);
  if (expected.requestId) t.match(message, `(request ${requestId})`);
  if (code === 'no_answer') t.not(cause, '');
  t.equal(new Set(pets).size, pets.length, 'no animal is listed twice');
}

type Runs = Record<'once' | 'always', Promise<Ran>>;

function tryRow(t: Test, { outcome, error, requests }: Row, operation: Operation, runs: Runs): void {
  const urls = operation === 'add' ? 1 : 2;
  t.test(`if the fault occurs once, the client's ${operation} call ends as the table of faults predicts`, async (t) => {
    const ran = await runs.once;
    if (outcome === 'error' || (outcome === 'either' && ran.error)) return isError(t, ran, error);
    isRight(t, ran);
    const tries = outcome === 'again' ? 2 : 1;
    if (outcome !== 'either') t.equal(ran.requests.length, tries * urls, ran.requests.join());
  });
  t.test(`if the fault never ends, the client's ${operation} call ends as the table of faults predicts`, async (t) => {
    const ran = await runs.always;
    if (outcome === 'done' || (outcome === 'either' && !ran.error)) return isRight(t, ran);
    isError(t, ran, error);
    if (outcome === 'again') t.equal(ran.requests.length, LIMITS.attempts, ran.requests.join());
    if (outcome === 'error') t.equal(ran.requests.length, requests ?? 1);
  });
}

function tryTable(t: Test, bench: Bench): void {
  for (const [name, row] of Object.entries(FAULTS)) {
    const operations: Operation[] = row.only ? [row.only] : ['add', 'list'];
    const runs = operations.map((operation): [Operation, Runs] => [
      operation,
      { once: run(bench, operation, [row.fault, 'once']), always: run(bench, operation, [row.fault, 'always']) },
    ]);
    t.test(`${name}: ${MEANINGS[row.outcome]}`, async (t) => {
      for (const [operation, both] of runs) tryRow(t, row, operation, both);
    });
  }
}

const MEANINGS: Record<Outcome, string> = {
  again: 'the client retries, and fails with an error only if every attempt fails',
  done: 'the client succeeds without a retry',
  error: 'the client fails with an error and does not retry',
  either: 'the client either succeeds or fails with an error',
};

function tryTimes(t: Test, bench: Bench): void {
  for (const [name, fault] of Object.entries(WAITING)) {
    const ran = run(bench, 'add', [fault, 'once'], { limits: { ...LIMITS, total: 10_000 } });
    t.test(`if a reply has a Retry-After of ${name}, the client waits that long before it retries`, async (t) => {
      isRight(t, await ran);
      const [wait = 0] = (await ran).waits;
      t.ok(wait >= WAIT, String(wait));
    });
  }

  const drips = [
    'a status line that arrives byte by byte',
    'headers that arrive byte by byte',
    'a body that arrives byte by byte',
    'silence before the reply',
  ];
  for (const name of drips) {
    const limits = { attempts: 50, timeout: 1000, total: 4000 };
    const ran = run(bench, 'add', [(FAULTS[name] as Row).fault, 'always'], { limits });
    t.test(`if the server sends only ${name}, the client stops at its total time limit`, async (t) => {
      isError(t, await ran);
      t.ok((await ran).requests.length <= 4);
    });
  }

  const limits = { attempts: 50, timeout: 4000, total: 9000 };
  const delayed = run(bench, 'add', [refuse(503, { 'retry-after': '5' }), 'always'], { limits });
  t.test('a client fails immediately if a Retry-After asks it to wait beyond its total time limit', async (t) => {
    isError(t, await delayed, { status: 503, code: 'code_503' });
    t.equal((await delayed).requests.length, 2);
  });

  const refused = run(bench, 'add', [refuse(503), 'always'], { limits: {} });
  t.test('if every reply is a 503, the client makes six attempts, with a longer wait before each', async (t) => {
    isError(t, await refused, { status: 503, code: 'code_503', requestId: 'r-1' });
    const { requests, waits } = await refused;
    t.equal(requests.length, 6);
    for (const [index, wait] of waits.entries()) t.ok(wait >= 250 * 2 ** index, String(waits));
  });
}

function tryArguments(t: Test, bench: Bench): void {
  const { port } = bench.service;
  const bases: Record<string, (url: string) => string> = {
    'without a path': () => `http://127.0.0.1:${port}`,
    'ending in /': (url) => `${url}/`,
    'ending in //': (url) => `${url}//`,
    'ending in /v1': (url) => `${url}/v1`,
    'ending in /v1/': (url) => `${url}/v1/`,
  };
  for (const [name, toBase] of Object.entries(bases)) {
    const runs = [run(bench, 'add', [], toBase), run(bench, 'list', [], toBase)];
    t.test(`with a base URL ${name}, a client adds and lists animals`, async (t) => {
      for (const ran of runs) isRight(t, await ran);
    });
  }

  const origin = `127.0.0.1:${port}`;
  for (const base of [
    origin,
    `localhost:${port}`,
    'petstore',
    '',
    `ftp://${origin}`,
    'http://',
    'http:///v1',
    `http://${origin}?x=1`,
  ]) {
    const runs = [run(bench, 'add', [], { url: base }), run(bench, 'list', [], { url: base })];
    t.test(`the client rejects the invalid base URL "${base.replace(/\d+/g, 'N')}" with an error`, async (t) => {
      for (const ran of runs) t.match((await ran).error?.message, /URL/);
    });
  }

  const secret = 'secret-of-a-key';
  const wrong: [string, Partial<Job>][] = [
    ['an API key that ends with a line break', { key: `${secret}\n` }],
    ['an API key with a space', { key: `Bearer ${secret}` }],
    ['an empty API key', { key: '' }],
    ['a URL with a password', { url: `http://user:${secret}@${origin}` }],
    ['an Idempotency-Key with a line break', { once: `a\r\nx-more: b` }],
  ];
  for (const [name, more] of wrong) {
    const ran = run(bench, 'add', [], more);
    t.test(`given ${name}, the client fails with an error and sends no request`, async (t) => {
      const { error, requests } = await ran;
      t.match(error?.message, /URL|key|once/i);
      t.notMatch(JSON.stringify(error), secret);
      t.equal(requests.length, 0);
    });
  }

  const empty = run(bench, 'add', [], { once: '' });
  t.test('if the Idempotency-Key is empty, the client or the server rejects it and no animal is added', async (t) => {
    const { pets, error } = await empty;
    t.match(error?.message, /once|idempotency-key/i);
    t.strictSame(pets, []);
  });

  const unknown = run(bench, 'add', [], { key: 'an-unknown-key-0123456789' });
  t.test('if the server answers 401, the client fails with this status and does not retry', async (t) => {
    isError(t, await unknown, { status: 401, code: 'unauthorized' });
    t.equal((await unknown).requests.length, 1);
  });
}

async function tryServers(t: Test, bench: Bench): Promise<void> {
  for (const base of ['http://no-such-host.invalid', 'http://127.0.0.1:1']) {
    const ran = run(bench, 'add', [], { url: base });
    t.test(`if no server answers at ${base}, the client fails with the code no_answer and the cause`, async (t) => {
      isError(t, await ran, { status: 0, code: 'no_answer' });
    });
  }

  const [cert, key] = ['crt', 'key'].map((kind) =>
    readFileSync(new URL(`../store/certificate/server.${kind}`, import.meta.url)),
  );
  let connections = 0;
  const server = createServer({ cert, key } as object, (_, reply) => reply.end()).on('tlsClientError', () => {});
  server.on('connection', () => connections++).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ran = await run(bench, 'add', [], { url: `https://127.0.0.1:${port}` });
  t.test("the client fails without a retry if it does not trust the server's TLS certificate", async (t) => {
    isError(t, ran, { status: 0, code: 'no_answer' });
    t.equal(connections, 1);
  });
}

/** Counts for each name how many animals with it are stored. */
async function readStored({ request }: Service): Promise<Map<string, number>> {
  const stored = new Map<string, number>();
  for await (const { body } of pagesFrom(request, '/v1/pets?status=sold&limit=100'))
    for (const { name } of body as { name: string }[]) stored.set(name, (stored.get(name) ?? 0) + 1);
  return stored;
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

t.test(
  'the TypeScript client makes wrong calls compile errors, and reads all pages of a list with exact integers',
  async (t) => {
    const { port } = await startService(t);
    const origin = `http://127.0.0.1:${port}`;
    const folder = t.testdir({ 'package.json': '{ "type": "module" }', 'wrong.ts': WRONG });
    writeFileSync(join(folder, 'petstore.ts'), astToString(await openapiTS(new URL(`${origin}/openapi.json`))));
    copyFileSync(new URL('typescript/petstore-client.ts', CLIENTS), join(folder, 'petstore-client.ts'));
    t.strictSame(compile(join(folder, 'wrong.ts')), []);

    const { buildPetstore } = await import(pathToFileURL(join(folder, 'petstore-client.js')).href);
    const petstore = buildPetstore(origin, KEY);
    const categories = [
      LARGEST,
      -LARGEST - 1n,
      2n ** 53n + 1n,
      0n,
      ...Array.from({ length: 100 }, (_, n) => BigInt(n)),
    ];
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
  },
);

t.test('each client in clients/ is a single file of fewer than 150 lines', async (t) => {
  for (const [name, { client }] of Object.entries(LANGUAGES)) {
    const text = readFileSync(new URL(`${name}/${client}`, CLIENTS), 'utf8');
    t.ok(text.split('\n').length - 1 < 150, name);
  }
});

t.test('oazapfts generates a working client from the contract, without a warning', async (t) => {
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

/** In this script, nothing but the client's own timer keeps the process running. */
const SILENT = `
import { buildPetstore } from './petstore-client.js';
globalThis.fetch = (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
buildPetstore('http://127.0.0.1', 'key', { attempts: 1, timeout: 100 }).add({ name: 'Rex', categoryId: 7n }, 'once').catch(({ message }) => console.log(message));
`;

const programs = await buildPrograms(t, (await readOurs()).json);

// These tests wait most of the time. They come last, because the compilers in the tests above block this process, in
// which the server and the proxy run.
t.jobs = programs.size;

t.test('a Node.js script does not exit while the TypeScript client waits for an answer', async (t) => {
  const folder = programs.get('typescript')?.folder as string;
  writeFileSync(join(folder, 'silent.js'), SILENT);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'silent.js')]);
  t.match(stdout, '0 no_answer: ');
});

for (const [name, program] of programs) {
  t.test(`the client in ${name} retries or reports every fault of the network`, { buffered: true }, async (t) => {
    const service = await startService(t);
    for (const text of PENDING) {
      const [, category, name, status] = text.split(' ');
      const body = `{"name":"${name}","categoryId":${category},"status":"${status}"}`;
      await service.request('/v1/pets', { method: 'POST', body });
    }
    const astray: string[] = [];
    const elsewhere = await listen((socket) => socket.on('data', (bytes) => astray.push(String(bytes))));
    t.teardown(() => elsewhere.close());
    const bench = { service, elsewhere: elsewhere.origin, enter: buildGate(), call: program.startDriver(t) };
    tryTable(t, bench);
    tryTimes(t, bench);
    tryArguments(t, bench);
    await tryServers(t, bench);
    t.test('the retries of a client add no animal twice, and no other host gets its API key', async (t) => {
      const stored = await readStored(service);
      t.ok(stored.size > 200);
      for (const [name, count] of stored) t.equal(count, 1, name);
      t.strictSame(astray, []);
    });
  });

  t.test(`the README example of the client in ${name} adds an animal once`, { buffered: true }, async (t) => {
    const { port } = await startService(t);
    const once = randomUUID();
    for (let count = 0; count < 2; count++) {
      const { code, stdout, stderr } = await program.example(`http://127.0.0.1:${port}`, once);
      t.strictSame({ code, stdout, stderr }, { code: 0, stdout: `1 ${LARGEST} Leo\n`, stderr: '' });
    }
    const { url, close } = await startFaultyProxy(port, '', refuse(400), 'always');
    t.teardown(close);
    t.match(await program.example(url, once), { code: 1, stdout: '', stderr: '400 code_400: No. (request r-1)' });
  });
}
