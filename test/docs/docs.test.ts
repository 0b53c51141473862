import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { parse as parseJson } from 'lossless-json';
import t, { type Test } from 'tap';
import { parse as parseYaml } from 'yaml';
import { loadContract } from '../../src/contract/load-contract.ts';
import { connectRaw, sendRaw } from '../raw-client.ts';
import { startService } from '../service.ts';

const CONTRACT = new URL('../../openapi/petstore.yaml', import.meta.url);
const DOCUMENTS = ['/openapi.yaml', '/openapi.json'];

const toNumber = (digits: string) => (/^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits));

/** The service of the checked-in contract, with one example that JavaScript's numbers cannot hold. */
async function startWithLargeExample(t: Test) {
  const yaml = readFileSync(CONTRACT, 'utf8').replace('examples: [7]', 'examples: [9223372036854775807]');
  const contract = await loadContract(`${t.testdir({ 'petstore.yaml': yaml })}/petstore.yaml`);
  return startService(t, { contract });
}

t.test('/openapi.yaml is the checked-in contract, byte for byte', async (t) => {
  const { app } = await startService(t);
  const reply = await app.inject('/openapi.yaml');
  t.equal(reply.statusCode, 200);
  t.equal(reply.headers['content-type'], 'application/yaml');
  t.ok(reply.rawPayload.equals(readFileSync(CONTRACT)));
});

t.test('/openapi.json says what /openapi.yaml says, with every digit', async (t) => {
  const { app } = await startWithLargeExample(t);
  const [yaml, json] = await Promise.all(DOCUMENTS.map((url) => app.inject(url)));
  t.equal(json?.headers['content-type'], 'application/json; charset=utf-8');
  t.strictSame(
    parseJson(json?.body as string, undefined, toNumber),
    parseYaml(yaml?.body as string, { intAsBigInt: true }),
  );
  t.match(json?.body, '[9223372036854775807]');
});

t.test('a document is sent again only when it has changed: strong ETag, If-None-Match, 304', async (t) => {
  const { app } = await startService(t);
  const changed = await startWithLargeExample(t);
  for (const url of DOCUMENTS) {
    const { headers } = await app.inject(url);
    const etag = headers.etag as string;
    t.match(etag, /^"[^"]+"$/);
    t.equal(headers['cache-control'], 'no-cache');
    t.equal((await app.inject(url)).headers.etag, etag);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await app.inject({ url, headers: { 'if-none-match': known } });
      t.equal(reply.statusCode, 304, known);
      t.equal(reply.headers.etag, etag);
      t.equal(reply.body, '');
    }
    t.equal((await app.inject({ url, headers: { 'if-none-match': '"other"' } })).statusCode, 200);
    t.equal((await changed.app.inject({ url, headers: { 'if-none-match': etag } })).statusCode, 200);
  }
});

t.test('HEAD answers as GET does, without the body', async (t) => {
  const { app } = await startService(t);
  for (const url of [...DOCUMENTS, '/docs']) {
    const get = await app.inject(url);
    const head = await app.inject({ method: 'HEAD', url });
    t.equal(head.statusCode, 200);
    t.equal(head.body, '');
    for (const name of ['content-type', 'content-length', 'etag']) t.equal(head.headers[name], get.headers[name]);
  }
});

t.test('documentation and documents need no key', async (t) => {
  const { app } = await startService(t);
  for (const url of [...DOCUMENTS, '/docs', '/docs/']) t.equal((await app.inject(url)).statusCode, 200, url);
});

t.test('/ leads to the documentation', async (t) => {
  const { app } = await startService(t);
  const { statusCode, headers } = await app.inject('/');
  t.equal(statusCode, 302);
  t.equal(headers.location, '/docs');
});

t.test("Swagger UI's own copies of the contract lead to the exact ones", async (t) => {
  const { app } = await startService(t);
  for (const type of ['json', 'yaml']) {
    const { statusCode, headers } = await app.inject(`/docs/${type}`);
    t.equal(statusCode, 302);
    t.equal(headers.location, `/openapi.${type}`);
  }
});

t.test('the page may load only what this server sends, runs no inline script, and works on plain HTTP', async (t) => {
  const { app } = await startService(t);
  for (const url of ['/docs', '/docs/', '/docs/static/swagger-initializer.js', '/docs/static/swagger-ui-bundle.js']) {
    const policy = (await app.inject(url)).headers['content-security-policy'] as string;
    const directives = policy.split(';').map((directive) => directive.trim());
    t.ok(directives.includes("default-src 'none'"), url);
    t.ok(directives.includes("script-src 'self'"), url);
    t.ok(directives.includes("connect-src 'self'"), url);
    t.notMatch(policy, /https?:|unsafe|upgrade-insecure-requests/);
  }
});

t.test('the page has the title of the contract, and all that it refers to is there', async (t) => {
  const { app } = await startService(t);
  const { title } = await loadContract();
  for (const base of ['/docs', '/docs/']) {
    const { body } = await app.inject(base);
    t.match(body, `<title>${title}</title>`);
    const references = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, reference]) => reference as string);
    t.ok(references.length > 5);
    for (const reference of references) {
      const { pathname } = new URL(reference, `http://localhost${base}`);
      t.equal((await app.inject(pathname)).statusCode, 200, pathname);
    }
  }
});

t.test("the page's files are sent again only when they have changed", async (t) => {
  const { app } = await startService(t);
  const url = '/docs/static/swagger-ui-bundle.js';
  const { headers, rawPayload } = await app.inject(url);
  t.ok(rawPayload.length > 1_000_000);
  t.match(headers['content-type'], 'text/javascript');
  const again = await app.inject({ url, headers: { 'if-none-match': headers.etag as string } });
  t.equal(again.statusCode, 304);
});

t.test('below the page, only what it needs is served, to any request', async (t) => {
  const { port } = await startService(t);
  const ask = async (start: string, ...headers: string[]) => {
    const [reply] = await sendRaw(
      port,
      [`${start} HTTP/1.1`, 'Host: pets', 'Connection: close', ...headers, '', ''].join('\r\n'),
    );
    return reply as NonNullable<typeof reply>;
  };
  for (const path of [
    'nope',
    '',
    '../../x',
    '../package.json',
    '%2e%2e/%2e%2e/x',
    '..%2f..%2fx',
    '%5c..%5cpackage.json',
    '%00',
    'swagger-ui.css%00',
    'swagger-ui.js',
    'swagger-ui-bundle.js.map',
    'x'.repeat(8000),
  ]) {
    for (const method of ['GET', 'POST', 'QUERY']) {
      const { status, text } = await ask(`${method} /docs/static/${path}`);
      t.equal(status, 404, `${method} ${path.slice(0, 40)}`);
      t.equal(JSON.parse(text).code, 'route_not_found');
    }
  }
  for (const header of [
    'Range: bytes=9-1',
    'Range: bytes=99999999-',
    'Range: pets=1-2',
    'If-Match: "x"',
    'If-Unmodified-Since: never',
    'If-Modified-Since: never',
  ]) {
    t.equal((await ask('GET /docs/static/swagger-ui.css', header)).status, 200, header);
  }
  t.equal((await ask('DELETE /docs/static/swagger-ui.css')).status, 405);
});

t.test("clients that ask for the page's files at once, and go away, leave none of them open", async (t) => {
  const { port } = await startService(t);
  const get = 'GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nHost: pets\r\n\r\n';
  const clients = Array.from({ length: 10 }, () => connectRaw(port, get.repeat(5)));
  await Promise.all(clients.map(({ socket }) => new Promise((resolve) => socket.once('data', resolve))));
  for (const { socket } of clients) socket.resetAndDestroy();
  await Promise.all(clients.map(({ closed }) => closed));
  t.strictSame(
    openFiles().filter((file) => file.includes('swagger-ui')),
    [],
  );
});

/** Where the system says so: what this process has open. */
function openFiles(): string[] {
  try {
    return readdirSync('/proc/self/fd').map((fd) => readlinkSync(`/proc/self/fd/${fd}`));
  } catch {
    return [];
  }
}
