/** Tokens of an issuer, checked with `jose` as in its documentation: unknown issuers, slow issuers and wrong clocks. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CompactSign, type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import t, { type Test } from 'tap';
import type { VerifyToken } from '../src/contract-first/engine/tokens.ts';
import type { Claims } from '../src/contract-first/registered.ts';
import { handlers } from '../src/generated/handlers.ts';
import { serve } from './added-operations.ts';
import { edited } from './edited-contract.ts';
import { KEY } from './service.ts';

const GUIDE = readFileSync(new URL('../src/contract-first/guide/service-files.md', import.meta.url), 'utf8');
const AUDIENCE = 'https://pets.example';
const ALL = 'pets:read pets:write';
const MINUTES = 60;

const YAML = edited(({ components }) => {
  components.headers['WWW-Authenticate'].schema = { type: 'string' };
  components.securitySchemes.bearerAuth = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
});

/** Starts an issuer that publishes its keys at a URL, as in OpenID Connect. */
async function startIssuer(t: Test) {
  let count = 0;
  const keys: { kid: string; privateKey: CryptoKey; jwk: object }[] = [];
  const state: { gate: Promise<void>; reply: [status: number, body?: string] } = {
    gate: Promise.resolve(),
    reply: [200],
  };
  const server = createServer(async (_request, response) => {
    await state.gate;
    const [status, body = JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })] = state.reply;
    response.writeHead(status).end(body);
  });
  t.teardown(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** Replaces the issuer's key. New tokens use the new key, and tokens of the old key become invalid. */
  async function rotate(): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const kid = `key-${++count}`;
    keys.splice(0, 1, { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } });
  }

  /** Signs any text as the claims of a token. */
  function signText(text: string): Promise<string> {
    const [{ kid, privateKey }] = keys as [(typeof keys)[0]];
    return new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);
  }

  function sign(claims: Record<string, unknown> = {}, header: object = {}): Promise<string> {
    const [{ kid, privateKey }] = keys as [(typeof keys)[0]];
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: url, aud: AUDIENCE, sub: 'ada', shop: 'north', scope: ALL, exp: now + 5 * MINUTES, ...claims };
    return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid, ...header }).sign(privateKey);
  }

  await rotate();
  return { url, server, state, rotate, sign, signText };
}

/** Loads the guide's `src/tokens.ts`, with this issuer and this timeout for fetching its keys. */
async function loadVerifyToken(t: Test, issuer: string, timeout: number): Promise<VerifyToken<Claims>> {
  const [, text = ''] = /```ts\n(\/\/ src\/tokens\.ts\n[\s\S]*?)```/.exec(GUIDE) ?? [];
  const times = `, { timeoutDuration: ${timeout}, cooldownDuration: 0 });`;
  const own = text.replace('https://issuer.example', issuer).replace('/jwks`));', `/jwks\`)${times}`);
  const file = join(t.testdir({ 'tokens.ts': own }), 'tokens.ts');
  return (await import(pathToFileURL(file).href)).verifyToken;
}

/** `timeout` is how long the issuer may take to answer, in milliseconds. */
async function start(t: Test, timeout = 60_000) {
  const issuer = await startIssuer(t);
  const lines: string[] = [];
  const options = {
    verifyToken: await loadVerifyToken(t, issuer.url, timeout),
    log: { write: (line: string) => void lines.push(line) },
  };
  const { request } = await serve(t, YAML, handlers as never, options);
  return { issuer, request, lines };
}

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const seconds = (shift: number) => Math.floor(Date.now() / 1000) + shift;

t.test(
  'a token of the configured issuer identifies a caller; any other token gets a 401 with the reason',
  async (t) => {
    const { issuer, request } = await start(t);
    const stranger = await startIssuer(t);
    const good = await issuer.sign();
    const [head, payload, signature] = good.split('.') as [string, string, string];
    t.match(await request('/v1/pets', { key: good }), { status: 200 });
    const refused: Record<string, [token: string, why: RegExp]> = {
      'alg none': [`${base64url({ alg: 'none' })}.${payload}.`, /Algorithm/],
      'alg none, with a signature': [`${base64url({ alg: 'none' })}.${payload}.${signature}`, /Algorithm/],
      'alg HS256': [`${base64url({ alg: 'HS256', kid: 'key-1' })}.${payload}.${signature}`, /Algorithm/],
      'a wrong kid': [await issuer.sign({}, { kid: 'key-9' }), /no applicable key/],
      'another signature': [
        `${head}.${payload}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
        /signature/,
      ],
      'other claims': [`${head}.${base64url({ sub: 'admin' })}.${signature}`, /signature/],
      'another issuer': [await stranger.sign(), /signature/],
      'the name of another issuer': [await issuer.sign({ iss: stranger.url }), /"iss"|iss/],
      'another audience': [await issuer.sign({ aud: 'others' }), /aud/],
      nobody: [await issuer.sign({ sub: undefined }), /subject/],
      'an empty name': [await issuer.sign({ sub: '' }), /subject/],
      'a number as its name': [await issuer.sign({ sub: 7 }), /subject/],
      'no end': [await issuer.sign({ exp: undefined }), /exp/],
      'an end in words': [await issuer.sign({ exp: 'tomorrow' }), /exp/],
      'no shop': [await issuer.sign({ shop: undefined }), /shop/],
      'a clock that is five minutes behind': [await issuer.sign({ exp: seconds(-5 * MINUTES) }), /exp/],
      'a clock that is five minutes ahead': [await issuer.sign({ nbf: seconds(5 * MINUTES) }), /nbf/],
      'no JWT': ['none', /JWS|Compact/],
      'an empty JWT': ['..', /JWS|JWT/],
      'a part too many': [`${good}.${payload}`, /JWS|Compact/],
      'no base64url': [`${head}.${payload}.~`, /JWS|JWT|signature/],
      'a head that is no object': [`${base64url([])}.${payload}.${signature}`, /JWS|Algorithm|"alg"/],
      'a kid that is no text': [`${base64url({ alg: 'ES256', kid: 7 })}.${payload}.${signature}`, /no applicable key/],
      'an unknown critical word': [`${base64url({ alg: 'ES256', crit: ['x'], x: 1 })}.${payload}.${signature}`, /"x"/],
      'claims that are no object': [await issuer.signText('[1]'), /JWT Claims Set/],
      'a key of the server': [KEY, /JWS|Compact/],
    };
    for (const [name, [key, why]] of Object.entries(refused)) {
      const reply = await request('/v1/pets', { method: 'POST', key, body: '{' });
      t.match(reply, { status: 401, body: { code: 'unauthorized', message: why } }, name);
      t.match(
        reply.headers['www-authenticate'],
        /^Bearer realm="Pet Store", error="invalid_token", error_description=".+"$/,
        name,
      );
    }
  },
);

t.test('a token of 8 KB works like a short token, and the log never contains it', async (t) => {
  const { issuer, request, lines } = await start(t);
  const key = await issuer.sign({ groups: Array.from({ length: 600 }, (_, index) => `group-${index}`) });
  t.ok(key.length > 8000, `${key.length} bytes`);
  t.match(await request('/v1/pets', { key }), { status: 200 });
  t.match(await request('/v1/pets', { key: `${key}x` }), { status: 401 });
  t.notMatch(lines.join(''), key.slice(0, 100));
});

t.test(
  'after the token issuer rotates its keys, new tokens work immediately, and old tokens no longer work',
  async (t) => {
    const { issuer, request } = await start(t);
    const old = await issuer.sign();
    t.match(await request('/v1/pets', { key: old }), { status: 200 });
    await issuer.rotate();
    const fresh = await issuer.sign();
    t.match(await request('/v1/pets', { key: fresh }), { status: 200 });
    t.match(await request('/v1/pets', { key: old }), { status: 401 });
  },
);

t.test('a slow token issuer delays only the first callers; if it is too slow, these callers get 503', async (t) => {
  const { issuer, request, lines } = await start(t, 3000);
  let answer = () => {};
  issuer.state.gate = new Promise((resolve) => {
    answer = resolve;
  });
  const key = await issuer.sign();
  const first = request('/v1/pets', { key });
  t.equal((await request('/livez')).status, 200);
  answer();
  t.equal((await first).status, 200);
  await issuer.rotate();
  issuer.state.gate = new Promise(() => {});
  t.match(await request('/v1/pets', { key: await issuer.sign() }), { status: 503, body: { code: 'unavailable' } });
  t.match(lines.join(''), /The tokens cannot be checked now.*|request timed out/);
});

t.test(
  'while the token issuer is unreachable, tokens of known keys work, and tokens of unknown keys get 503',
  async (t) => {
    const { issuer, request } = await start(t);
    const known = await issuer.sign();
    t.match(await request('/v1/pets', { key: known }), { status: 200 });
    issuer.state.reply = [503];
    t.match(await request('/v1/pets', { key: known }), { status: 200 });
    await issuer.rotate();
    const fresh = await issuer.sign();
    t.match(await request('/v1/pets', { key: fresh }), { status: 503, headers: { 'retry-after': /./ } });
    issuer.state.reply = [200];
    t.match(await request('/v1/pets', { key: fresh }), { status: 200 });
  },
);

t.test(
  'if the token issuer is gone or sends unusable keys, the reply is 503, not 401, because the token may be valid',
  async (t) => {
    const { issuer, request } = await start(t);
    const broken = { kty: 'EC', crv: 'P-256', kid: 'key-1', alg: 'ES256', x: 'AA', y: 'AA' };
    const bodies = ['none', '[]', '{}', '{"keys":[1]}', JSON.stringify({ keys: [broken] })];
    const key = await issuer.sign();
    for (const reply of [[500], [404, ''], ...bodies.map((body) => [200, body])] as [number, string?][]) {
      issuer.state.reply = reply;
      t.match(await request('/v1/pets', { key }), { status: 503, body: { code: 'unavailable' } }, reply.join(' '));
    }
    issuer.server.close().closeAllConnections();
    t.match(await request('/v1/pets', { key }), { status: 503 }, 'the issuer no longer listens');
  },
);

t.test('the server checks the scopes of a token like the scopes of an API key', async (t) => {
  const { issuer, request } = await start(t);
  const key = await issuer.sign({ scope: 'pets:read' });
  t.match(await request('/v1/pets', { key }), { status: 200 });
  const refused = await request('/v1/pets', { method: 'POST', key, body: { name: 'Rex', categoryId: 7 } });
  t.match(refused, { status: 403, headers: { 'www-authenticate': /error="insufficient_scope", scope="pets:write"/ } });
});
