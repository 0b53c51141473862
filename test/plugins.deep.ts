/** Registers Fastify plugins exactly as their READMEs say, and checks what they do and reject. */
import compress from '@fastify/compress';
import jwt from '@fastify/jwt';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import staticFiles from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import { KEY, startService } from './service.ts';

/**
 * Starts a service with plugins. Checks that each reply has a request id and the contract's error form, and that each
 * request has its log line.
 */
async function start(t: Test, addPlugins: (app: FastifyInstance) => Promise<void>) {
  const lines: Record<string, unknown>[] = [];
  const { port } = await startService(t, {
    addPlugins,
    log: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  return async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${KEY}`, ...init.headers };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers });
    const text = await response.text();
    const id = response.headers.get('x-request-id');
    const isLogged = () => lines.some(({ reqId, msg }) => reqId === id && msg === 'request');
    for (let waits = 0; !isLogged() && waits < 100; waits++) await new Promise((resolve) => setTimeout(resolve, 5));
    t.ok(isLogged(), `${path} is logged`);
    if (response.status >= 400) t.match(JSON.parse(text), { status: response.status, code: /^[a-z_]+$/, message: /./ });
    return { status: response.status, headers: Object.fromEntries(response.headers), text };
  };
}

const json = { 'content-type': 'application/json' };
const rex = { method: 'POST', body: '{"name":"Rex","categoryId":7}', headers: json };

t.test("@fastify/rate-limit counts requests to operations and to a team's routes, and answers 429", async (t) => {
  const ask = await start(t, async (app) => {
    await app.register(rateLimit, { max: 2, timeWindow: '1 hour' });
    app.get('/own', () => 'own');
  });
  t.match(await ask('/v1/pets'), { status: 200, headers: { 'x-ratelimit-remaining': '1' } });
  t.match(await ask('/own'), { status: 200, headers: { 'x-ratelimit-remaining': '0' } });
  t.match(await ask('/v1/pets'), {
    status: 429,
    headers: { 'retry-after': /^3\d{3}$/ },
    text: /"code":"rate_limited"/,
  });
});

t.test("@fastify/jwt protects a team's route: a missing, wrong or expired token gets 401", async (t) => {
  let token = '';
  let old = '';
  const ask = await start(t, async (app) => {
    await app.register(jwt, { secret: 'secret-of-the-tests-0123456789-0123456789' });
    token = app.jwt.sign({ sub: 'ada' });
    old = app.jwt.sign({ sub: 'ada', exp: 1 });
    const verify = {
      onRequest: async (request: { jwtVerify(): Promise<unknown> }) => void (await request.jwtVerify()),
    };
    app.get('/own', verify as never, ({ user }: { user?: unknown }) => user);
  });
  t.match(await ask('/own', { headers: { authorization: `Bearer ${token}` } }), { status: 200, text: /"sub":"ada"/ });
  for (const authorization of ['', 'Bearer', 'Bearer none', `Bearer ${token}x`, `Bearer ${old}`]) {
    const refused = await ask('/own', { headers: { authorization } });
    t.equal(refused.status, 401, authorization);
  }
  // The API key of an operation works as before.
  t.match(await ask('/v1/pets'), { status: 200 });
});

t.test(
  "@fastify/compress compresses replies; it decompresses bodies for a team's routes, or answers 400 and 415",
  async (t) => {
    const ask = await start(t, async (app) => {
      await app.register(compress, { threshold: 0 });
      app.post('/own', ({ body }) => ({ body }));
    });
    t.match(await ask('/v1/pets'), { status: 200, headers: { 'content-encoding': /./ }, text: '[]' });
    const post = (coding: string, body: string | Uint8Array) =>
      ask('/own', { method: 'POST', body, headers: { ...json, 'content-encoding': coding } });
    const { gzipSync } = await import('node:zlib');
    t.match(await post('gzip', gzipSync('{"a":1}')), { status: 200, text: '{"body":{"a":1}}' });
    t.match(await post('gzip', '{"a":1}'), { status: 400 });
    t.match(await post('none', '{"a":1}'), { status: 415, text: /"unsupported_media_type"/ });
  },
);

t.test(
  "@fastify/multipart reads the files that a team's route receives, and rejects large files and other bodies",
  async (t) => {
    const ask = await start(t, async (app) => {
      await app.register(multipart, { limits: { fileSize: 100, files: 1 } });
      app.post('/own', async (request) => {
        const file = await request.file();
        return { name: file?.filename, size: (await file?.toBuffer())?.length };
      });
    });
    const form = (size: number, count = 1) => {
      const body = new FormData();
      for (let index = 0; index < count; index++) body.append('file', new Blob(['x'.repeat(size)]), 'a.txt');
      return { method: 'POST', body };
    };
    t.match(await ask('/own', form(100)), { status: 200, text: '{"name":"a.txt","size":100}' });
    t.match(await ask('/own', form(101)), { status: 413, text: /"payload_too_large"/ });
    t.match(await ask('/own', { method: 'POST', body: '{}', headers: json }), {
      status: 406,
      text: /"not_acceptable"/,
    });
    t.match(await ask('/v1/pets', form(1)), { status: 415, text: /"unsupported_media_type"/ });
    t.match(await ask('/v1/pets', rex), { status: 201 });
  },
);

t.test(
  '@fastify/static serves files and byte ranges; a missing file gets 404, and an unsatisfiable range gets 416',
  async (t) => {
    const root = t.testdir({ 'a.txt': '0123456789', '.secret': 'secret' });
    const ask = await start(t, async (app) => {
      await app.register(staticFiles, { root, prefix: '/files/', dotfiles: 'deny' });
    });
    t.match(await ask('/files/a.txt'), { status: 200, text: '0123456789' });
    t.match(await ask('/files/a.txt', { headers: { range: 'bytes=2-3' } }), { status: 206, text: '23' });
    t.match(await ask('/files/a.txt', { headers: { range: 'bytes=20-' } }), {
      status: 416,
      text: /"range_not_satisfiable"/,
    });
    t.match(await ask('/files/b.txt'), { status: 404 });
    t.match(await ask('/files/.secret'), { status: 403, text: /"forbidden"/ });
    t.match(await ask('/files/%2e%2e/%2e%2e/package.json'), { status: /^40[034]$/ });
    t.match(await ask('/v1/pets'), { status: 200, text: '[]' });
  },
);
