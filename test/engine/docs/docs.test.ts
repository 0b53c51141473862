import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { parse as parseJson } from 'lossless-json';
import t, { type Test } from 'tap';
import { parse as parseYaml } from 'yaml';
import { findUnfitClient } from '../../../src/contract-first/cli/program.js';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { listClients } from '../../../src/contract-first/engine/docs/docs.ts';
import { load } from '../../added-operations.ts';
import { edited } from '../../edited-contract.ts';
import { connectRaw, sendRaw } from '../../raw-client.ts';
import { readOurs, startService } from '../../service.ts';

const CONTRACT = new URL('../../../openapi/petstore.yaml', import.meta.url);
const PAGE = new URL('../../../src/contract-first/engine/docs/assets/', import.meta.url);
const DOCUMENTS = ['/openapi.yaml', '/openapi.json'];

const toNumber = (digits: string) => (/^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits));

/** Starts the service with an example in its contract that a JavaScript number cannot hold. */
async function startWithLargeExample(t: Test) {
  const yaml = readFileSync(CONTRACT, 'utf8').replace('examples: [7]', 'examples: [9223372036854775807]');
  const contract = await loadContract(`${t.testdir({ 'petstore.yaml': yaml })}/petstore.yaml`);
  return startService(t, { contract });
}

t.test('GET /openapi.yaml returns the contract file, byte for byte', async (t) => {
  const { app } = await startService(t);
  const reply = await app.inject('/openapi.yaml');
  t.equal(reply.statusCode, 200);
  t.equal(reply.headers['content-type'], 'application/yaml');
  t.ok(reply.rawPayload.equals(readFileSync(CONTRACT)));
});

t.test(
  'GET /openapi.json returns the content of /openapi.yaml as JSON, with every digit of large numbers',
  async (t) => {
    const { app } = await startWithLargeExample(t);
    const [yaml, json] = await Promise.all(DOCUMENTS.map((url) => app.inject(url)));
    t.equal(json?.headers['content-type'], 'application/json; charset=utf-8');
    t.strictSame(
      parseJson(json?.body as string, undefined, toNumber),
      parseYaml(yaml?.body as string, { intAsBigInt: true }),
    );
    t.match(json?.body, '[9223372036854775807]');
  },
);

t.test(
  'the contract file means the same in YAML 1.1 and 1.2, and quotes list items that contain a colon',
  async (t) => {
    const yaml = readFileSync(CONTRACT, 'utf8');
    t.strictSame(parseYaml(yaml, { version: '1.1' }), parseYaml(yaml));
    t.notMatch(yaml, /: \[[^\]"']*\w:\w/);
  },
);

t.test('a contract document has a strong ETag, and If-None-Match gets a 304 until the document changes', async (t) => {
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

t.test('HEAD of a contract document sends the headers of GET without the body', async (t) => {
  const { app } = await startService(t);
  for (const url of [...DOCUMENTS, '/docs']) {
    const get = await app.inject(url);
    const head = await app.inject({ method: 'HEAD', url });
    t.equal(head.statusCode, 200);
    t.equal(head.body, '');
    for (const name of ['content-type', 'content-length', 'etag']) t.equal(head.headers[name], get.headers[name]);
  }
});

t.test('the reference page and the contract documents need no key', async (t) => {
  const { app } = await startService(t);
  for (const url of [...DOCUMENTS, '/docs', '/docs/']) t.equal((await app.inject(url)).statusCode, 200, url);
});

t.test('GET / redirects a browser to the reference page, and other clients to the contract', async (t) => {
  const { app } = await startService(t);
  const accepted = {
    'text/html,application/xhtml+xml,*/*;q=0.8': '/docs',
    '*/*': '/openapi.json',
    '': '/openapi.json',
  };
  for (const [accept, location] of Object.entries(accepted)) {
    const { statusCode, headers } = await app.inject({ url: '/', headers: { accept } });
    t.match({ statusCode, ...headers }, { statusCode: 302, location, vary: 'accept' });
    t.match(headers.link, '</openapi.json>; rel="service-desc"; type="application/json"');
    t.match(headers.link, '</docs>; rel="service-doc"; type="text/html"');
  }
});

t.test(
  'the reference page loads only files of its server, runs no inline script, and works over plain HTTP',
  async (t) => {
    const { app } = await startService(t);
    for (const url of ['/docs', '/docs/', '/docs/try', '/docs/static/form.js', '/docs/static/swagger-ui-bundle.js']) {
      const policy = (await app.inject(url)).headers['content-security-policy'] as string;
      const directives = policy.split(';').map((directive) => directive.trim());
      t.ok(directives.includes("default-src 'none'"), url);
      t.ok(directives.includes("script-src 'self'"), url);
      t.ok(directives.includes("connect-src 'self'"), url);
      t.ok(directives.includes("frame-ancestors 'none'"), url);
      t.notMatch(policy, /https?:|unsafe|upgrade-insecure-requests/);
    }
  },
);

t.test('the reference page shows the title of the contract, and all its links work', async (t) => {
  const { app } = await startService(t);
  const { title } = await readOurs();
  const used = new Set<string>();
  for (const base of ['/docs', '/docs/', '/docs/try']) {
    const { body } = await app.inject(base);
    t.match(body, `<title>${title}`);
    const references = [...body.matchAll(/<(?:link|script)[^>]+(?:src|href)="([^"]+)"/g)].map(
      ([, url]) => url as string,
    );
    t.ok(references.length >= 4);
    for (const url of references) used.add(url.replace(/.*\//, ''));
    for (const url of references) {
      t.notMatch(url, /^\/|:/, 'each URL is relative, so that proxies may strip a path');
      t.equal((await app.inject(new URL(url, `http://service${base}`).pathname)).statusCode, 200, url);
    }
  }
  const files = readdirSync(PAGE).filter((file) => file !== 'form.html');
  for (const file of files) {
    for (const [, name] of readFileSync(new URL(file, PAGE), 'utf8').matchAll(/'\.\/([^']+)'/g))
      used.add(name as string);
  }
  t.strictSame(
    files.filter((file) => !used.has(file)),
    [],
    'the page uses each file',
  );
});

t.test(
  'the reference page links to the source files of clients that users may copy; the server sends them as plain text',
  async (t) => {
    const { app } = await startService(t);
    const { body } = await app.inject('/docs');
    const urls = [...body.matchAll(/href="\.(\/docs\/clients\/[^"]+)"/g)].map(([, url]) => url as string);
    t.strictSame(
      urls.map((url) => url.split('/').slice(3).join('/')),
      ['python', 'typescript'].flatMap((language) =>
        readdirSync(new URL(`../../../openapi/clients/${language}`, import.meta.url))
          .sort()
          .map((name) => `${language}/${name}`),
      ),
    );
    for (const url of urls) {
      const { headers, rawPayload } = await app.inject(url);
      t.equal(headers['content-type'], 'text/plain; charset=utf-8');
      t.ok(
        rawPayload.equals(readFileSync(new URL(`../../../openapi${url.replace('/docs', '')}`, import.meta.url))),
        url,
      );
    }
    for (const folder of [new URL('none/', import.meta.url), undefined])
      t.strictSame(listClients(folder), [], 'a contract may have no client files');
  },
);

t.test(
  "a client's source file may have any name; the server sends no folders, hidden files or symbolic links",
  async (t) => {
    const names = ['a.b/c d.txt', 'go/50%.txt', 'go/a#b?c.txt', 'go/*', 'go/:id', 'go/é.txt', 'go/x.d/y.txt'];
    const folder = t.testdir({ secret: 'secret', clients: { README: 'not listed' } });
    for (const name of [...names, 'go/.hidden']) {
      mkdirSync(`${folder}/clients/${dirname(name)}`, { recursive: true });
      writeFileSync(`${folder}/clients/${name}`, name);
    }
    symlinkSync(`${folder}/secret`, `${folder}/clients/go/link.txt`);
    const contract = join(folder, 'petstore.yaml');
    t.match(findUnfitClient(contract), `${folder}/clients/go/link.txt is neither a file nor a folder: remove it`);
    execFileSync('mkfifo', [`${folder}/clients/go/pipe.txt`]);
    const clients = pathToFileURL(`${folder}/clients/`);
    const { app } = await startService(t, { clients });
    t.strictSame(listClients(clients), names.toSorted());
    for (const name of names) {
      const url = `/docs/clients/${name.split('/').map(encodeURIComponent).join('/')}`;
      t.match(await app.inject(url), { statusCode: 200, body: name }, url);
    }
    for (const name of ['go/link.txt', 'go/pipe.txt', 'go/.hidden', 'README', 'go/x.d', '..%2Fsecret'])
      t.equal((await app.inject(`/docs/clients/${name}`)).statusCode, 404, name);
    rmSync(`${folder}/clients`, { recursive: true });
    t.equal(findUnfitClient(contract), undefined);
  },
);

t.test(
  '/docs and /docs/ send the same page with different relative links; links within its samples stay unchanged',
  async (t) => {
    const header = { name: 'X-Link', in: 'header', schema: { type: 'string' }, example: '<a href="./x">' };
    const contract = await load(
      t,
      edited(({ listPets }) => listPets.parameters.push(header)),
    );
    const { app } = await startService(t, { contract });
    for (const url of ['/docs', '/docs/']) t.match((await app.inject(url)).body, 'X-Link: &lt;a href="./x"&gt;', url);
  },
);

t.test(
  'the server compresses large documents if the client accepts that; each encoding has its own ETag',
  async (t) => {
    const { app } = await startService(t);
    const urls = ['/docs', '/openapi.json', '/openapi.yaml', '/docs/static/swagger-ui-bundle.js'];
    const decompress = { br: brotliDecompressSync, gzip: gunzipSync };
    for (const url of urls) {
      const plain = await app.inject(url);
      t.equal(plain.headers['content-encoding'], undefined);
      t.equal(plain.headers.vary, 'accept-encoding');
      const tags = new Set([plain.headers.etag]);
      for (const [coding, open] of Object.entries(decompress)) {
        const ask = (headers = {}) =>
          app.inject({ url, headers: { 'accept-encoding': `${coding};q=0.8`, ...headers } });
        for (let count = 0; count < 2; count++) {
          const reply = await ask();
          t.equal(reply.headers['content-encoding'], coding);
          t.ok(open(reply.rawPayload).equals(plain.rawPayload), url);
          t.ok(reply.rawPayload.length < plain.rawPayload.length / 2);
          tags.add(reply.headers.etag);
          t.equal((await ask({ 'if-none-match': reply.headers.etag })).statusCode, 304);
          t.equal((await ask({ 'if-none-match': plain.headers.etag })).statusCode, 200);
        }
      }
      t.equal(tags.size, 3);
    }
    const icon = await app.inject({ url: '/docs/static/favicon-32x32.png', headers: { 'accept-encoding': 'br' } });
    t.equal(icon.headers['content-encoding'], undefined);
  },
);

t.test('a request below /docs never gets a file that is not part of the reference page', async (t) => {
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
    'page.css%00',
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
    t.equal((await ask('GET /docs/static/page.css', header)).status, 200, header);
  }
  t.equal((await ask('DELETE /docs/static/page.css')).status, 405);
});

t.test('clients that request files of the reference page and disconnect leave no file open', async (t) => {
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

/** Returns the paths of the files that this process has open; empty if the system does not list them. */
function openFiles(): string[] {
  try {
    return readdirSync('/proc/self/fd').map((fd) => readlinkSync(`/proc/self/fd/${fd}`));
  } catch {
    return [];
  }
}

t.test('if the body of a GET of a document is malformed, the client gets one 400 and no document', async (t) => {
  const lines: string[] = [];
  const { app, port } = await startService(t, { log: { write: (line: string) => lines.push(line) } });
  for (const [url, coding] of [
    ['/docs', 'identity'],
    ['/openapi.json', 'br'],
  ]) {
    const head = `GET ${url} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${coding}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const { socket, ended, received } = connectRaw(port, head);
    await new Promise((resolve) => setImmediate(resolve));
    socket.write('no chunk\r\n');
    await ended;
    t.match(received().text, /^HTTP\/1\.1 400 /);
    t.equal(received().text.match(/HTTP\/1\.1 /g)?.length, 1);
    t.equal((await app.inject(url as string)).statusCode, 200);
  }
  t.strictSame(
    lines.filter((line) => JSON.parse(line).level > 30),
    [],
  );
});
