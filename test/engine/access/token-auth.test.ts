import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { fastify } from 'fastify';
import t, { type Test } from 'tap';
import { buildIdentifyToken } from '../../../src/contract-first/engine/access/token-auth.ts';
import contractFirst from '../../../src/contract-first/fastify.ts';
import { loadServed } from '../../../src/contract-first/start/opening.ts';
import { handlers } from '../../../src/generated/handlers.ts';
import { service } from '../../../src/generated/service.ts';
import { serve } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { loadConfig } from '../../config.ts';
import { edited } from '../../edited-contract.ts';
import { KEY, type StartOptions } from '../../service.ts';
import { collect } from '../../used-heap.ts';

/** The security schemes with which a contract can declare third-party tokens. */
const FORMS: Record<string, Json> = {
  JWT: { type: 'http', scheme: 'Bearer', bearerFormat: 'jwt' },
  'OAuth 2': {
    type: 'oauth2',
    flows: {
      clientCredentials: {
        tokenUrl: 'https://issuer.example/token',
        scopes: { 'pets:read': 'Read animals.', 'pets:write': 'Add animals.' },
      },
    },
  },
  'OpenID Connect': {
    type: 'openIdConnect',
    openIdConnectUrl: 'https://issuer.example/.well-known/openid-configuration',
  },
};

const withTokens = (scheme: Json = FORMS.JWT) =>
  edited(({ components }) => {
    // With tokens, the challenge also has an error_description, which the declared schema would reject.
    components.headers['WWW-Authenticate'].schema = { type: 'string' };
    for (const name of Object.keys(components.securitySchemes)) components.securitySchemes[name] = scheme;
  });

/** A test token contains its id and its scopes: `ada~pets.read/pets.write`. */
const verifyToken: NonNullable<StartOptions['verifyToken']> = (token) => {
  const [isOne, id = '', scopes = ''] = /^(\w*)~(.*)$/.exec(token) ?? [];
  if (isOne === undefined) return { refused: 'it is none' };
  if (token === 'away~') throw new Error('the issuer is away');
  if (token === 'old~') return { refused: 'it has "expired"' };
  return { id, claims: { plan: 'gold' }, scopes: scopes.replaceAll('.', ':').split('/') };
};

const READ = 'ada~pets.read';
const ALL = 'ada~pets.read/pets.write';
const BOB = 'bob~pets.read/pets.write';

const start = (t: Test, options: StartOptions = {}, scheme?: Json) =>
  serve(t, withTokens(scheme), handlers as never, { verifyToken, ...options });

t.test(
  "for each token scheme that a contract can declare, the team's verifyToken runs before the server reads the body",
  async (t) => {
    for (const [name, scheme] of Object.entries(FORMS)) {
      const { request } = await start(t, {}, scheme);
      t.match(await request('/v1/pets', { key: READ }), { status: 200 }, name);
      for (const key of ['old~', 'not/a+token~', 'ada pets', '', null]) {
        const refused = await request('/v1/pets', { method: 'POST', key, body: '{' });
        t.match(refused, { status: 401, body: { code: 'unauthorized' } }, `${name}: ${key}`);
      }
      t.match(await request('/v1/pets', { key: KEY }), { status: 401 }, `${name}: the keys of the server open nothing`);
    }
  },
);

t.test(
  'if an operation needs a key and a token and verifyToken fails, the reply is 503, even if the key is valid',
  async (t) => {
    const yaml = edited(({ components, paths }) => {
      components.headers['WWW-Authenticate'].schema = { type: 'string' };
      components.securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' }, token: FORMS.JWT };
      for (const path of Object.values<Json>(paths))
        for (const operation of [path.get, path.post]) if (operation) operation.security = [{ key: [], token: [] }];
    });
    const { request } = await serve(t, yaml, handlers as never, { verifyToken });
    const headers = { 'x-key': KEY };
    t.match(await request('/v1/pets', { key: READ, headers }), { status: 200 });
    t.match(await request('/v1/pets', { key: 'old~', headers }), { status: 401 });
    t.match(await request('/v1/pets', { key: 'away~', headers }), { status: 503, body: { code: 'unavailable' } });
  },
);

t.test('a 401 or 403 for a token gives its reason in WWW-Authenticate, with the error codes of RFC 6750', async (t) => {
  const { request } = await start(t);
  const realm = 'Bearer realm="Pet Store"';
  const ask = async (key: string | null, url = '/v1/pets', options = {}) => {
    const { status, body, headers } = await request(url, { key, ...options });
    return [status, (body as { message: string }).message, headers['www-authenticate']];
  };
  t.strictSame(await ask(null), [401, 'The token is missing: send Authorization: Bearer <token>.', realm]);
  t.strictSame(await ask('old~'), [
    ...[401, 'The token is not valid: it has "expired".'],
    `${realm}, error="invalid_token", error_description="it has expired"`,
  ]);
  t.strictSame(await ask('a b'), [
    ...[401, 'The token is not valid.'],
    `${realm}, error="invalid_token", error_description="it is not valid"`,
  ]);
  t.strictSame(await ask(READ, '/v1/pets', { method: 'POST', body: '{' }), [
    ...[403, 'The token may not do this: it lacks the scope pets:write.'],
    `${realm}, error="insufficient_scope", scope="pets:write"`,
  ]);
});

t.test('if verifyToken throws or returns no id, the reply is 503, and the log gives the cause', async (t) => {
  const lines: string[] = [];
  const { request } = await start(t, { log: { write: (line) => void lines.push(line) } });
  t.match(await request('/v1/pets', { key: 'away~' }), { status: 503, body: { code: 'unavailable' } });
  t.match(lines.join(''), /the issuer is away/);
  t.match(await request('/v1/pets', { key: '~' }), { status: 503 });
  t.match(lines.join(''), /a token was verified without an id/);
});

t.test('if verifyToken takes too long, the reply is 503', async (t) => {
  const identify = buildIdentifyToken(() => new Promise(() => {}), null as never, 10);
  const request = { headers: { authorization: 'Bearer a' } };
  const failure = await new Promise((resolve) => identify(request as never, null as never, resolve));
  t.match(failure, { status: 503, cause: { message: 'the token was not checked in time' } });
});

t.test('handlers get the id, claims and scopes of a token; the log contains the id, but never the token', async (t) => {
  const lines: string[] = [];
  const getPet = ({ caller }: Json) => {
    const { id, claims, scopes } = caller;
    return { status: 404, body: { code: 'pet_not_found', message: JSON.stringify([id, claims, scopes]), status: 404 } };
  };
  const log = { write: (line: string) => void lines.push(line) };
  const { request } = await start(t, { log, handlers: { ...handlers, getPet } as never });
  const { body } = await request('/v1/pets/1', { key: READ });
  t.match(body, { message: '["ada",{"plan":"gold"},["pets:read"]]' });
  t.match(JSON.parse(lines[0] as string), { tokenId: 'ada', operationId: 'getPet', keyId: undefined });
  t.notMatch(lines.join(''), READ);
});

t.test('requests with the same id from verifyToken share a rate limit, and share their Idempotency-Keys', async (t) => {
  const limits = loadConfig({ KEY_RATE: '2/d' });
  const lines: string[] = [];
  const { request } = await start(t, { limits, log: { write: (line) => void lines.push(line) } });
  const add = (key: string, name: string) =>
    request('/v1/pets', { method: 'POST', key, body: { name, categoryId: 7 }, headers: { 'idempotency-key': 'one' } });
  t.match(await add(ALL, 'Rex'), { status: 201, body: { id: 1 }, headers: { ratelimit: '"key";r=1;t=' } });
  t.match(await add(`${ALL}/others`, 'Rex'), { status: 201, headers: { 'idempotency-replayed': 'true' } });
  t.match(await add(BOB, 'Mia'), { status: 201, body: { id: 2 } });
  const refused = await Promise.all([1, 2, 3].map(() => request('/v1/pets', { key: READ })));
  for (const reply of refused) t.match(reply, { status: 429 });
  t.match(await request('/v1/pets', { key: BOB }), { status: 200 });
  const ofRefusals = () => lines.map((line) => JSON.parse(line)).filter(({ status }) => status === 429);
  while (ofRefusals().length < refused.length) await wait(20);
  for (const { tokenId } of ofRefusals()) t.equal(tokenId, 'ada');
});

t.test("after a reply, the server releases the claims of the caller's token from memory", async (t) => {
  const limits = loadConfig({ KEY_RATE: '9/d', UNAUTHORIZED_RATE: '9/d' });
  const claims: WeakRef<object>[] = [];
  const checked: typeof verifyToken = async (token, request) => {
    const result = await verifyToken(token, request);
    if ('claims' in result) claims.push(new WeakRef(result.claims));
    return result;
  };
  const { request } = await start(t, { limits, verifyToken: checked });
  for (let number = 0; number < 100; number++) {
    t.match(await request('/v1/pets', { key: `ada${number}~pets.read` }), { status: 200 });
  }
  const remembered = () => claims.filter((one) => one.deref()).length;
  // A WeakRef that was read keeps its object until the end of the turn.
  for (let turn = 0; turn < 100 && remembered() > 5; turn++) {
    await wait(10);
    collect();
  }
  t.equal(claims.length, 100);
  t.ok(remembered() <= 5, `${remembered()} callers`);
});

t.test('without a verifyToken, the server accepts its API keys as tokens', async (t) => {
  for (const form of Object.values(FORMS)) {
    const { request } = await start(t, { verifyToken: undefined }, form);
    t.match(await request('/v1/pets', { key: KEY }), { status: 200 });
    t.match(await request('/v1/pets', { key: null }), { status: 401, body: { message: /^The API key is missing/ } });
  }
});

t.test('in production, a service with OAuth 2 or OpenID Connect does not start without a verifyToken', async (t) => {
  for (const name of ['OAuth 2', 'OpenID Connect']) {
    const contract = pathToFileURL(join(t.testdir({ 'contract.yaml': withTokens(FORMS[name]) }), 'contract.yaml'));
    const loaded = (others: object) =>
      loadServed({ ...service, contract, ...others }, loadConfig({ NODE_ENV: 'production' }));
    await t.rejects(loaded({}), {
      message: /- security scheme bearerAuth: its tokens are not checked: write verifyToken in src\/tokens\.ts$/,
    });
    await t.resolves(loaded({ verifyToken }));
  }
});

t.test(
  "in a team's own app, the plugin rejects a contract that declares tokens if the service has no verifyToken",
  async (t) => {
    const contract = pathToFileURL(join(t.testdir({ 'contract.yaml': withTokens(FORMS['OAuth 2']) }), 'contract.yaml'));
    const app = fastify();
    t.teardown(() => app.close());
    const store = { url: 'sqlite::memory:' };
    await t.rejects(async () => app.register(contractFirst, { service: { ...service, contract }, store }), {
      message: /its tokens are not checked/,
    });
  },
);

t.test('a token scheme that no operation uses needs no verifyToken', async (t) => {
  const unused = edited(({ securitySchemes }) => {
    securitySchemes.other = FORMS['OAuth 2'];
  });
  const { request } = await serve(t, unused, handlers as never);
  t.match(await request('/v1/pets'), { status: 200 });
});
