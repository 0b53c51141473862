/** Tokens of an issuer, checked by `jose` as its documentation says: what a stranger, a slow issuer and a wrong clock do. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, createRemoteJWKSet, errors, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import t, { type Test } from 'tap';
import type { Refused } from '../src/engine/tokens.ts';
import { handlers } from '../src/generated/handlers.ts';
import { serve } from './added-operations.ts';
import { edited } from './edited-contract.ts';
import { KEY } from './service.ts';

const AUDIENCE = 'https://pets.example';
const ALL = 'pets:read pets:write';
const MINUTES = 60;

const YAML = edited(({ components }) => {
  components.headers['WWW-Authenticate'].schema = { type: 'string' };
  components.securitySchemes.bearerAuth = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
});

/** Publishes its keys at a URL, as an issuer of OpenID Connect does. */
async function startIssuer(t: Test) {
  let count = 0;
  const keys: { kid: string; privateKey: CryptoKey; jwk: object }[] = [];
  const state = { gate: Promise.resolve(), isAway: false, asked: 0 };
  const server = createServer(async (_request, response) => {
    state.asked++;
    await state.gate;
    response.writeHead(state.isAway ? 503 : 200).end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  });
  t.teardown(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** Its new tokens have a new key; those of the one before are known no longer. */
  async function rotate(): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const kid = `key-${++count}`;
    keys.splice(0, 1, { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } });
  }

  function sign(claims: Record<string, unknown> = {}, header: object = {}): Promise<string> {
    const [{ kid, privateKey }] = keys as [(typeof keys)[0]];
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: url, aud: AUDIENCE, sub: 'ada', scope: ALL, exp: now + 5 * MINUTES, ...claims };
    return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid, ...header }).sign(privateKey);
  }

  await rotate();
  return { url, state, rotate, sign };
}

/** As a team writes it in `src/tokens.ts`. */
function buildVerifyToken(issuer: string, timeoutDuration: number) {
  const keys = createRemoteJWKSet(new URL(issuer), { timeoutDuration, cooldownDuration: 0 });
  return async (token: string) => {
    try {
      const expected = { issuer, audience: AUDIENCE, algorithms: ['ES256'], requiredClaims: ['sub', 'exp'] };
      const { payload } = await jwtVerify(token, keys, expected);
      return { id: payload.sub as string, claims: payload, scopes: String(payload.scope).split(' ') };
    } catch (error) {
      return toRefused(error);
    }
  };
}

/** What is wrong with the token; that its issuer cannot be asked is thrown. */
function toRefused(error: unknown): Refused {
  const isOfIssuer = error instanceof errors.JWKSTimeout || (error as { code: string }).code === 'ERR_JOSE_GENERIC';
  if (!(error instanceof errors.JOSEError) || isOfIssuer) throw error;
  return { refused: error.message };
}

/** `timeout` is how long the issuer may take to answer, in milliseconds. */
async function start(t: Test, timeout = 60_000) {
  const issuer = await startIssuer(t);
  const lines: string[] = [];
  const options = {
    verifyToken: buildVerifyToken(issuer.url, timeout),
    log: { write: (line: string) => void lines.push(line) },
  };
  const { request } = await serve(t, YAML, handlers as never, options);
  return { issuer, request, lines };
}

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const seconds = (shift: number) => Math.floor(Date.now() / 1000) + shift;

t.test('a token of the issuer is a caller; all others are 401, and are told why', async (t) => {
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
    nobody: [await issuer.sign({ sub: undefined }), /sub/],
    'a clock that is five minutes behind': [await issuer.sign({ exp: seconds(-5 * MINUTES) }), /exp/],
    'a clock that is five minutes ahead': [await issuer.sign({ nbf: seconds(5 * MINUTES) }), /nbf/],
    'no JWT': ['none', /JWS|Compact/],
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
});

t.test('a token of 8 KB is one as any other, and stands in no log', async (t) => {
  const { issuer, request, lines } = await start(t);
  const key = await issuer.sign({ groups: Array.from({ length: 600 }, (_, index) => `group-${index}`) });
  t.ok(key.length > 8000, `${key.length} bytes`);
  t.match(await request('/v1/pets', { key }), { status: 200 });
  t.match(await request('/v1/pets', { key: `${key}x` }), { status: 401 });
  t.notMatch(lines.join(''), key.slice(0, 100));
});

t.test(
  'when the issuer has rotated its keys, its new tokens are known at once, and the old ones no longer',
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

t.test('a slow issuer holds up the first who ask, and nobody else; one that is too slow is 503', async (t) => {
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
  'while the issuer is away, known keys are enough; a token of an unknown key is 503, and 200 when it is back',
  async (t) => {
    const { issuer, request } = await start(t);
    const known = await issuer.sign();
    t.match(await request('/v1/pets', { key: known }), { status: 200 });
    issuer.state.isAway = true;
    t.match(await request('/v1/pets', { key: known }), { status: 200 });
    await issuer.rotate();
    const fresh = await issuer.sign();
    t.match(await request('/v1/pets', { key: fresh }), { status: 503, headers: { 'retry-after': /./ } });
    issuer.state.isAway = false;
    t.match(await request('/v1/pets', { key: fresh }), { status: 200 });
  },
);

t.test('scopes of a token are checked as those of keys are', async (t) => {
  const { issuer, request } = await start(t);
  const key = await issuer.sign({ scope: 'pets:read' });
  t.match(await request('/v1/pets', { key }), { status: 200 });
  const refused = await request('/v1/pets', { method: 'POST', key, body: { name: 'Rex', categoryId: 7 } });
  t.match(refused, { status: 403, headers: { 'www-authenticate': /error="insufficient_scope", scope="pets:write"/ } });
});
