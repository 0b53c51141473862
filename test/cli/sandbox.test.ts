/** The sandbox serves any contract without preparation. */
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
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
import { NODE_ARGS } from '../program.ts';
import { books, json, path, record, reply, text } from './scaffold/books-contract.ts';

const PACKAGE = fileURLToPath(new URL('../../src/contract-first/', import.meta.url));
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

const sendJson = async (url: string, method = 'GET', body?: object) => {
  const headers = { 'content-type': 'application/json' };
  const sent = await fetch(url, { method, ...(body && { headers, body: JSON.stringify(body) }) });
  return { status: sent.status, body: JSON.parse((await sent.text()) || 'null') };
};

/** Runs the printed curl command in a shell. Returns its output. */
async function runCurl(said: string): Promise<string> {
  const [, command = ''] = /Try it:\n\n {2}(curl[\s\S]*?)\n\n/.exec(said) ?? [];
  return (await promisify(execFile)('/bin/sh', ['-c', command])).stdout;
}

t.test(
  '`sandbox` serves a third-party contract without preparation or API keys, and stores the records that clients send',
  async (t) => {
    const { origin, said } = await open(t, PETSTORE);
    t.match(said(), /^Swagger Petstore: 3 operations, all stored in memory\.$/m);
    t.match(said(), `Documentation, to read and try: ${origin}/docs`);
    t.equal(await statusOf(`${origin}/docs`), 200);
    t.equal((await sendJson(`${origin}/v1/pets`, 'POST', { id: 7, name: 'Rex' })).status, 201);
    t.strictSame(await sendJson(`${origin}/v1/pets/7`), { status: 200, body: { id: 7, name: 'Rex' } });
    t.match(await sendJson(`${origin}/v1/pets/8`), { status: 404, body: { code: 404 } });
    t.match(
      await sendJson(`${origin}/v1/pets?limit=a`),
      { body: { code: 400 } },
      'errors have the form of the contract',
    );
  },
);

t.test('the curl command that `sandbox` prints creates a record, also with `--keys`', async (t) => {
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

t.test('with `--keys`, `sandbox` requires API keys where the contract declares them', async (t) => {
  for (const [scheme, header] of [
    [{ type: 'http', scheme: 'basic' }, 'Authorization: Basic'],
    [{ type: 'apiKey', in: 'cookie', name: 'sid' }, 'Cookie: sid='],
    [{ type: 'apiKey', in: 'header', name: 'X-Key' }, 'X-Key: '],
    [{ type: 'apiKey', in: 'query', name: 'key' }, '?key='],
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
  t.equal(await statusOf(`${origin}/v1/pets`), 200, 'without --keys, a request needs no key');
});

t.test(
  "`sandbox` serves each changed version of the contract's file; if a version has a mistake, it serves the last valid one",
  async (t) => {
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
  },
);

t.test('if `sandbox` is closed while it reads a changed contract, it does not serve the new contract', async (t) => {
  const contract = edited(() => {});
  const file = write(t, contract);
  const { origin, lines, close } = await open(t, file);
  lines.length = 0;
  writeFileSync(file, contract);
  await wait(100);
  await close();
  const count = lines.length;
  await wait(1000);
  t.equal(lines.length, count);
  await t.rejects(fetch(`${origin}/docs`), { message: 'fetch failed' });
});

t.test(
  '`sandbox` replaces an invalid example by a value of the schema; if it finds none, the operation answers 501',
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

t.test(
  'if `sandbox` finds no request that would succeed, it serves the contract but prints no curl command',
  async (t) => {
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
  },
);

t.test(
  '`sandbox` does not start if the contract has mistakes, and prints one line for each of the first ones',
  async (t) => {
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
    t.throws(() => toSandboxOptions({ port: '3000x' }), {
      message: '--port 3000x: a port is a number from 0 to 65535.',
    });
    t.throws(() => toSandboxOptions({ port: '70000' }), { message: /^--port 70000: / });
    t.strictSame(toSandboxOptions({ keys: true }), { port: undefined, hasKeys: true });
    t.strictSame(toSandboxOptions({ port: '81' }), { port: 81, hasKeys: false });
  },
);

t.test('without `--port`, `sandbox` chooses a free port; with a `--port` in use, it does not start', async (t) => {
  const first = await open(t, PETSTORE, { port: undefined });
  const second = await open(t, PETSTORE, { port: undefined });
  t.not(first.origin, second.origin);
  await t.rejects(open(t, PETSTORE, { port: Number(new URL(second.origin).port) }), {
    message: /^The sandbox cannot listen: .*EADDRINUSE.*\. Give it another --port\.$/,
  });
});

t.test('`sandbox` reads a contract from a URL, but rejects one that refers to other files', async (t) => {
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

t.test('`sandbox` begins with empty tables, and stores records that clients create, change and delete', async (t) => {
  const { origin, said } = await open(t, write(t, JSON.stringify(books())));
  t.match(said(), /^Books: 6 operations, all stored in memory\.$/m);
  t.match(await sendJson(`${origin}/books`), { status: 200, body: { items: [], total: 0 } });
  t.match(await runCurl(said()), /^HTTP\/1\.1 201 /);
  const { body: book } = await sendJson(`${origin}/books`, 'POST', { title: 'Emma', price: 3 });
  t.match(book, { id: 2, title: 'Emma', price: 3 });
  t.strictSame(await sendJson(`${origin}/books/2`), { status: 200, body: book });
  t.match(await sendJson(`${origin}/books/2`, 'PATCH', { title: 'Persuasion' }), { status: 200 });
  t.match((await sendJson(`${origin}/books`)).body.items[1], { id: 2, title: 'Persuasion' });
  t.equal((await sendJson(`${origin}/books/2`, 'DELETE')).status, 204);
  t.equal((await sendJson(`${origin}/books/2`)).status, 404);
});

t.test(
  'in `sandbox`, an operation whose reply from stored records could break the contract answers with its example',
  async (t) => {
    const contract = books(({ paths }) => {
      // This list must contain a certain book. Nobody can know whether it is among the stored ones.
      const known = { id: 1, title: 'Sanditon', state: 'new', views: 0, isOpen: true, tags: [], revision: 1 };
      const example = [{ ...known, createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' }];
      const contains = { properties: { title: { const: 'Sanditon' } } };
      const list: Json = reply({ type: 'array', items: record('Book'), contains });
      list.content['application/json'].example = example;
      const data = { type: 'object', required: ['data'], properties: { data: record('Book') } };
      paths['/books'].post.responses[201] = reply(data);
      paths['/books'].get.responses[200] = list;
      paths['/books'].get.parameters = [];
    });
    const { origin, said } = await open(t, write(t, JSON.stringify(contract)));
    t.match(said(), /^Books: 6 operations, 5 stored in memory, the others answered/m);
    t.equal((await sendJson(`${origin}/books`, 'POST', { title: 'Emma' })).status, 201);
    t.match(await sendJson(`${origin}/books`), { status: 200, body: [{ title: 'Sanditon' }] });
  },
);

t.test('if bodies have the media type */*, `sandbox` uses JSON in its replies, curl commands and pages', async (t) => {
  for (const type of ['*/*', 'application/*']) {
    const contract = books(({ paths, schemas }) => {
      schemas.Sign = { type: 'object', required: ['word'], properties: { word: { ...text, example: 'Highbury' } } };
      const schema = record('Sign');
      paths['/sign'] = {
        post: {
          operationId: 'readSign',
          requestBody: { required: true, content: { 'application/json': { schema, example: { word: 'Pemberley' } } } },
          responses: {
            200: { description: 'Read.', content: { 'application/json': { schema } } },
          },
        },
      };
    });
    const any = JSON.stringify(contract).replaceAll('"application/json":', `"${type}":`);
    const { origin, said } = await open(t, write(t, any));
    t.match(said(), /^Books: 7 operations, 6 stored in memory, the others answered/m);
    t.match(said(), /-H 'Content-Type: application\/json' \\\n {4}-d '\{"title":"string"\}'/);
    const sent = await runCurl(said());
    t.match(sent, /^HTTP\/1\.1 201 [\s\S]*\ncontent-type: application\/json; charset=utf-8\r\n[\s\S]*"title":"string"/);
    t.match(await sendJson(`${origin}/books`), { status: 200, body: { items: [{ title: 'string' }], total: 1 } });
    t.match(await sendJson(`${origin}/sign`, 'POST', { word: 'Emma' }), { status: 200, body: { word: 'Highbury' } });
    t.equal((await sendJson(`${origin}/sign`, 'POST', { word: 5 })).status, 400, 'the body is checked');
    const page = (await (await fetch(`${origin}/docs`)).text())
      .replace(/<[^>]*>/g, '')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'");
    t.match(page, /-H 'Content-Type: application\/json'[^<]*-d '\{"word":"Pemberley"\}'/);
    t.match(page, /"word": "Highbury"/);
  }
});

t.test('a signal before `sandbox` listens ends it, and it leaves no temporary files', async (t) => {
  const folder = t.testdir({ 'one.json': edited(() => {}), temporary: {} });
  const hook =
    "const { mkdtempSync } = fs; fs.mkdtempSync = (...args) => { process.kill(process.pid, 'SIGTERM'); return mkdtempSync(...args); }; syncBuiltinESMExports();";
  const before = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module'; ${hook}`;
  const args = [
    `--import=data:text/javascript,${encodeURIComponent(before)}`,
    `${PACKAGE}cli/main.ts`,
    'sandbox',
    'one.json',
  ];
  const env = { ...process.env, TMPDIR: join(folder, 'temporary') };
  const { status, stdout } = spawnSync(process.execPath, [...NODE_ARGS, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  t.strictSame([status, stdout, readdirSync(join(folder, 'temporary'))], [1, '', []]);
});

t.test('`sandbox` answers 400 to a value that the request body allows and the record does not', async (t) => {
  const contract = books(({ body }) => {
    Object.assign(body.properties, { title: { type: ['string', 'null'] }, state: text });
    body.properties.note = { type: ['string', 'null'] };
  });
  const { origin } = await open(t, write(t, JSON.stringify(contract)));
  t.equal((await sendJson(`${origin}/books`, 'POST', { title: null })).status, 400);
  t.equal((await sendJson(`${origin}/books`, 'POST', { title: 'Emma', state: 'odd' })).status, 400);
  t.equal((await sendJson(`${origin}/books`)).body.total, 0);
  t.equal((await sendJson(`${origin}/books`, 'POST', { title: 'Emma', note: null })).status, 400);
  const { status, body } = await sendJson(`${origin}/books`, 'POST', { title: 'Emma', state: 'old' });
  t.match([status, body], [201, { state: 'old' }]);
  t.equal((await sendJson(`${origin}/books/${body.id}`, 'PATCH', { title: null })).status, 400);
});

t.test('if `sandbox` cannot store a resource, it answers with examples, and stores other resources', async (t) => {
  const { paths, components, ...others } = books();
  const wrong = books(({ paths, book, body }) => {
    book.properties.title = body.properties.title = { type: 'number' };
    const [parameters, list] = [[], reply({ type: 'array', items: record('Book'), maxItems: 0 })];
    Object.assign(paths['/shelves'].get, { parameters, responses: { 200: list } });
  }, 'shelves');
  const shelves = JSON.parse(JSON.stringify(wrong).replaceAll('Book', 'Shelf').replaceAll('bookId', 'shelfId'));
  const Note = { type: 'object', required: ['id'], properties: { id: { type: 'integer', format: 'int64' }, text } };
  const notes = (parent: string, id: string, name: string) => {
    const parameters = [path(id, Note.properties.id)];
    const requestBody = { required: true, ...json({ type: 'object', properties: { text } }) };
    const post = { operationId: `create${name}`, requestBody, responses: { 201: reply(record(name)) } };
    const get = { operationId: `get${name}`, responses: { 200: reply(record(name)) } };
    const item = { parameters: [...parameters, path('noteId', Note.properties.id)], get };
    return { [`${parent}/notes`]: { parameters, post }, [`${parent}/notes/{noteId}`]: item };
  };
  const ofShelves = notes('/shelves/{shelfId}', 'shelfId', 'Note');
  const schemas = { ...components.schemas, ...shelves.components.schemas, Note };
  const contract = { ...others, paths: { ...shelves.paths, ...paths, ...ofShelves }, components: { schemas } };
  const { origin, said } = await open(t, write(t, JSON.stringify(contract)));
  t.match(said(), /^Books: 14 operations, 6 stored in memory, the others answered/m);
  t.match(await sendJson(`${origin}/shelves/7`), { status: 200, body: { title: 1 } });
  t.match(
    await sendJson(`${origin}/shelves/7/notes/9`),
    { status: 200, body: { id: 1 } },
    'without a stored parent, the reply is the example',
  );
  const ofBooks = notes('/books/{bookId}', 'bookId', 'Note');
  const both = { ...others, paths: { ...shelves.paths, ...paths, ...ofBooks }, components: { schemas } };
  const other = await open(t, write(t, JSON.stringify(both), 'both.json'));
  t.match(other.said(), /^Books: 14 operations, 8 stored in memory, the others answered/m);
  t.equal((await sendJson(`${origin}/books/7`)).status, 404);
});
