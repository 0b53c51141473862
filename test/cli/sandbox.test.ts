/** The sandbox serves any contract at once. */
import { execFile } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { openSandbox, type SandboxOptions, toSandboxOptions } from '../../src/contract-first/cli/sandbox/sandbox.ts';
import type { Json } from '../any-json.ts';
import { edited } from '../edited-contract.ts';

const PETSTORE = fileURLToPath(new URL('../other-contracts/petstore.yaml', import.meta.url));

async function open(t: Test, source: string, options: Partial<SandboxOptions> = {}) {
  const lines: string[] = [];
  const sandbox = await openSandbox(source, { port: 0, hasKeys: false, ...options }, (text) => lines.push(text));
  t.teardown(() => sandbox.close());
  return { ...sandbox, lines, said: () => lines.join('\n') };
}

const write = (t: Test, contract: string, name = 'contract.json') => {
  const file = join(t.testdir(), name);
  writeFileSync(file, contract);
  return file;
};

const statusOf = async (url: string, headers = {}) => (await fetch(url, { headers })).status;

/** Runs the command as it was printed, in a shell, and returns the reply. */
async function runCurl(said: string): Promise<string> {
  const [, command = ''] = /Try it:\n\n {2}(curl[\s\S]*?)\n\n/.exec(said) ?? [];
  return (await promisify(execFile)('/bin/sh', ['-c', command])).stdout;
}

t.test('a contract of a third party is served at once, without a key, with the answers of its examples', async (t) => {
  const { origin, said } = await open(t, PETSTORE);
  t.match(said(), /^Swagger Petstore: 3 operations, each answered with the contract's example\.$/m);
  t.match(said(), `Documentation, to read and try: ${origin}/docs`);
  t.equal(await statusOf(`${origin}/docs`), 200);
  const pet = await fetch(`${origin}/v1/pets/7`);
  t.strictSame([pet.status, Object.keys((await pet.json()) as object)], [200, ['id', 'name', 'tag']]);
  t.match(
    await (await fetch(`${origin}/v1/pets?limit=a`)).json(),
    { code: 400 },
    'errors have the form of the contract',
  );
});

t.test('the printed curl works as it is', async (t) => {
  const { said } = await open(t, PETSTORE);
  t.match(await runCurl(said()), /^HTTP\/1\.1 201 /);
  const keyed = await open(
    t,
    write(
      t,
      edited(() => {}),
    ),
    { hasKeys: true },
  );
  t.match(await runCurl(keyed.said()), /^HTTP\/1\.1 201 /);
});

t.test('--keys demands the keys of the contract, wherever it has them', async (t) => {
  for (const [scheme, header] of [
    [{ type: 'http', scheme: 'basic' }, 'Authorization: Basic'],
    [{ type: 'apiKey', in: 'cookie', name: 'sid' }, 'Cookie: sid='],
    [{ type: 'apiKey', in: 'header', name: 'X-Key' }, 'X-Key: '],
  ] as [Json, string][]) {
    const contract = edited(({ components }) => {
      components.headers['WWW-Authenticate'].schema = { type: 'string' };
      for (const name of Object.keys(components.securitySchemes)) components.securitySchemes[name] = scheme;
    });
    const { origin, said } = await open(t, write(t, contract), { hasKeys: true });
    t.equal(await statusOf(`${origin}/v1/pets`), 401);
    t.match(await runCurl(said()), /^HTTP\/1\.1 201 /, header);
  }
  const { origin } = await open(
    t,
    write(
      t,
      edited(() => {}),
    ),
  );
  t.equal(await statusOf(`${origin}/v1/pets`), 200, 'without --keys none is needed');
});

t.test('each change of the file is served, and a mistake leaves the last contract', async (t) => {
  const file = write(
    t,
    edited(() => {}),
  );
  const { origin, lines, said } = await open(t, file);
  const change = async (contract: string, line: RegExp) => {
    lines.length = 0;
    writeFileSync(file, contract);
    while (!line.test(said())) await wait(10);
  };
  await change(
    edited(({ contract }) => (contract.info.title = 'Other')),
    /^Other: /m,
  );
  t.equal(await statusOf(`${origin}/v1/pets`), 200);
  await change('openapi: [', /cannot be served:\n[\s\S]*\nThe last contract is served on\.$/);
  t.equal(await statusOf(`${origin}/v1/pets`), 200);
  writeFileSync(join(file, '../other.json'), '{}');
  await change(
    edited(({ contract }) => (contract.info.title = 'Third')),
    /^Third: /m,
  );
});

t.test(
  'a reply whose example does not fit has one of its schema, and an operation without any answers 501',
  async (t) => {
    const text = { type: 'string' };
    const replies: Record<string, [reply: Json, status: number, body?: string]> = {
      unfit: [{ content: { 'application/json': { schema: { type: 'integer' }, example: 'x' } } }, 200, '1'],
      name: [{ content: { 'application/json': { schema: text, example: 'a' } } }, 200, '"a"'],
      exact: [
        { content: { 'application/json': { schema: { type: 'integer', format: 'int64' }, example: 7 } } },
        200,
        '7',
      ],
      csv: [{ content: { 'text/csv': { schema: text, example: 'a,b' } } }, 200, 'a,b'],
      bytes: [{ content: { 'image/png': {} } }, 200, ''],
      none: [{ content: { 'application/json': { schema: { type: 'string', pattern: '^[é]{3}-q$' } } } }, 501],
      header: [{ headers: { 'X-Odd': { required: true, schema: { type: 'string', pattern: '^[é]{3}-q$' } } } }, 501],
      found: [{ headers: { 'X-Total': { required: true, schema: { type: 'integer' }, example: 3 } } }, 200, ''],
      long: [{ headers: { 'X-Total': { required: true, schema: { type: 'integer', format: 'int64' } } } }, 200, ''],
      text: [{ headers: { 'X-Shelf': { required: true, schema: text, example: 'a' } } }, 200, ''],
    };
    const paths = Object.entries(replies).map(([name, [reply]]) => [
      `/${name}`,
      { get: { operationId: name, responses: { '2XX': { description: 'Found.', ...reply } } } },
    ]);
    const contract = { openapi: '3.1.0', info: { title: 'Odd', version: '1' }, paths: Object.fromEntries(paths) };
    const { origin } = await open(t, write(t, JSON.stringify(contract)));
    for (const [name, [, status, body]] of Object.entries(replies)) {
      const reply = await fetch(`${origin}/${name}`);
      t.equal(reply.status, status, name);
      if (body !== undefined) t.equal(await reply.text(), body, name);
    }
  },
);

t.test('a contract without a request that works is served without a curl', async (t) => {
  const impossible = {
    description: 'x',
    content: { 'application/json': { schema: { type: 'string', pattern: '^[é]{3}-q$' } } },
  };
  const contract = {
    ...{ openapi: '3.1.0', info: { title: 'Odd', version: '1' } },
    paths: {
      '/odd': {
        put: { operationId: 'putOdd', requestBody: { content: impossible.content }, responses: { 200: impossible } },
        get: { operationId: 'getOdd', responses: { 200: impossible } },
      },
    },
  };
  const { said } = await open(t, write(t, JSON.stringify(contract)));
  t.match(said(), /^Odd: 2 operations, each answered/m);
  t.notMatch(said(), 'Try it');
  const text = { description: 'x', content: { 'text/plain': { example: 'a' } } };
  const several = { get: { operationId: 'getText', responses: { default: text, 302: { description: 'y' } } } };
  const { origin } = await open(t, write(t, JSON.stringify({ ...contract, paths: { '/text': several } }), 'b.json'));
  t.equal((await fetch(`${origin}/text`, { redirect: 'manual' })).status, 302);
  several.get.responses = { default: text } as Json;
  const alone = await open(t, write(t, JSON.stringify({ ...contract, paths: { '/text': several } }), 'c.json'));
  t.equal(await statusOf(`${alone.origin}/text`), 200);
  t.match(alone.said(), /^Odd: 1 operation, each answered/m);
});

t.test('what cannot be served is named in lines, and nothing is run', async (t) => {
  const wrong = Object.fromEntries(
    Array.from({ length: 25 }, (_, index) => [
      `/${index}`,
      { get: { operationId: `get${index}`, responses: { 200: { description: 'x' } }, security: [{ no: [] }] } },
    ]),
  );
  const base = { openapi: '3.1.0', info: { title: 'x', version: '1' } };
  const file = write(t, JSON.stringify({ ...base, paths: wrong }));
  await t.rejects(open(t, file), { message: /^\S+contract\.json cannot be served:\n( {2}.*\n){20} {2}…$/ });
  await t.rejects(open(t, 'nowhere.yaml'), { message: 'nowhere.yaml cannot be read: there is no such file' });
  t.throws(() => toSandboxOptions({ port: '3000x' }), { message: '--port 3000x: a port is a number from 0 to 65535.' });
  t.throws(() => toSandboxOptions({ port: '70000' }), { message: /^--port 70000: / });
  t.strictSame(toSandboxOptions({ keys: true }), { port: undefined, hasKeys: true });
  t.strictSame(toSandboxOptions({ port: '81' }), { port: 81, hasKeys: false });
});

t.test('a port that is taken is named, and without --port another one is used', async (t) => {
  const first = await open(t, PETSTORE, { port: undefined });
  const second = await open(t, PETSTORE, { port: undefined });
  t.not(first.origin, second.origin);
  await t.rejects(open(t, PETSTORE, { port: Number(new URL(second.origin).port) }), {
    message: /^The sandbox cannot listen: .*EADDRINUSE.*\. Give it another --port\.$/,
  });
});

t.test('a URL is read as one document, and references to other files are an error that says so', async (t) => {
  const folder = t.testdir();
  copyFileSync(PETSTORE, join(folder, 'petstore.yaml'));
  const pages: Record<string, string> = {
    '/one.json': edited(() => {}),
    '/many.json': edited(({ components }) => (components.schemas.Pet = { $ref: 'pet.json' })),
    '/wrong.json': '[',
  };
  const server = createServer((request, response) => response.end(pages[request.url ?? '']));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { origin } = await open(t, `${url}/one.json`);
  t.equal(await statusOf(`${origin}/v1/pets`), 200);
  await t.rejects(open(t, `${url}/many.json`), {
    message: `${url}/many.json refers to other files: download all of them, and name the first one.`,
  });
  await t.rejects(open(t, `${url}/wrong.json`), { message: /wrong\.json cannot be served:\n {2}/ });
});
