/**
 * Contracts with API keys in headers and in the query: each operation accepts keys only where its own security schemes
 * put them.
 */
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { load } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { openUrl } from '../../database.ts';
import { edited } from '../../edited-contract.ts';
import { readOperations } from '../../properties/operations.ts';
import { runProperties } from '../../properties/property.ts';
import { requestProperties } from '../../properties/request-properties.ts';
import { sendRaw } from '../../raw-client.ts';
import { KEY, type StartOptions, startService } from '../../service.ts';

const IN_HEADER = 'ApiKey realm="Pet Store", in="header", name="X-Key"';
const IN_QUERY = 'ApiKey realm="Pet Store", in="query", name="api_key"';

/**
 * listPets accepts a key in a header or in the query, createPet a key in a header, and getPet a bearer key or one in
 * the query.
 */
const CONTRACT = edited(({ securitySchemes, components, listPets, createPet, getPet }) => {
  securitySchemes.headerKey = { type: 'apiKey', in: 'header', name: 'X-Key' };
  securitySchemes.queryKey = { type: 'apiKey', in: 'query', name: 'api_key' };
  components.headers['WWW-Authenticate'].schema = { type: 'string' };
  listPets.security = [{ headerKey: ['pets:read'] }, { queryKey: ['pets:list'] }];
  createPet.security = [{ headerKey: ['pets:write'] }];
  getPet.security = [{ bearerAuth: [] }, { queryKey: [] }];
});

async function start(t: Test, options: StartOptions = {}) {
  const contract = await load(t, CONTRACT);
  const { request, ...service } = await startService(t, { contract, yaml: CONTRACT, keepAlive: true, ...options });
  /** Sends a request. Returns the status and the WWW-Authenticate header. */
  const ask = async (url: string, headers: Record<string, string> = {}, method = 'GET') => {
    const body = method === 'POST' ? { name: 'Rex', categoryId: 7 } : undefined;
    const reply = await request(url, { method, key: null, headers, body });
    return [reply.status, reply.headers['www-authenticate']];
  };
  return { ...service, request, ask };
}

t.test('an API key is accepted only in the headers or query parameters that the operation declares', async (t) => {
  const { ask } = await start(t);
  const bearer = { authorization: `Bearer ${KEY}` };
  t.strictSame(await ask('/v1/pets', { 'x-key': KEY }, 'POST'), [201, undefined]);
  t.strictSame(await ask(`/v1/pets?api_key=${KEY}`, {}, 'POST'), [401, IN_HEADER]);
  for (const headers of [{ 'x-key': KEY }, { 'X-KEY': KEY }]) {
    t.strictSame(await ask('/v1/pets', headers), [200, undefined]);
  }
  t.strictSame(await ask(`/v1/pets?limit=1&api_key=${KEY}`), [200, undefined]);
  t.strictSame(await ask(`/v1/pets?api%5Fkey=${KEY}`, { 'x-key': 'wrong' }), [200, undefined]);
  t.strictSame(await ask('/v1/pets', bearer), [401, `${IN_HEADER}, ${IN_QUERY}`]);
  t.strictSame(await ask('/v1/pets/1', bearer), [200, undefined]);
  t.strictSame(await ask(`/v1/pets/1?api_key=${KEY}`), [200, undefined]);
  t.strictSame(await ask(`/v1/pets/1?api_key=${KEY}`, { authorization: 'Bearer x' }), [200, undefined]);
});

t.test('the 401 for a request without a valid key tells the client where to send the key', async (t) => {
  const { ask, request } = await start(t);
  const challenges = `Bearer realm="Pet Store", ${IN_QUERY}`;
  t.strictSame(await ask('/v1/pets/1'), [401, challenges]);
  t.strictSame(await ask('/v1/pets/1', { 'x-key': KEY }), [401, challenges]);
  const both = [401, `Bearer realm="Pet Store", error="invalid_token", ${IN_QUERY}`];
  t.strictSame(await ask('/v1/pets/1?api_key=x', { authorization: 'Bearer x' }), both);
  t.strictSame(await ask(`/v1/pets/1?api_key=${KEY}&api_key=${KEY}`), [401, challenges]);
  const messageOf = async (url: string) => ((await request(url, { key: null })).body as Json).message;
  t.equal(
    await messageOf('/v1/pets/1'),
    'The API key is missing: send Authorization: Bearer <API_KEY>, or ?api_key=<API_KEY>.',
  );
  t.equal(await messageOf('/v1/pets/1?api_key=x'), 'The API key is not valid.');
  t.equal(await messageOf('/v1/pets'), 'The API key is missing: send X-Key: <API_KEY>, or ?api_key=<API_KEY>.');
});

t.test(
  'a request needs to fulfil only one security requirement of its operation, including the scopes of that requirement',
  async (t) => {
    const store = openUrl('sqlite::memory:');
    const [reader, lister, writer] = [makeKey('petstore'), makeKey('petstore'), makeKey('petstore')];
    await store.createKey(toStoredKey(reader, 'reader', undefined, ['pets:read']));
    await store.createKey(toStoredKey(lister, 'lister', undefined, ['pets:list']));
    await store.createKey(toStoredKey(writer, 'writer', undefined, ['pets:write']));
    const { ask } = await start(t, { store });
    t.strictSame(await ask('/v1/pets', { 'x-key': reader }), [200, undefined]);
    t.strictSame(await ask(`/v1/pets?api_key=${lister}`), [200, undefined]);
    const lacking = (challenge: string, scope: string) => [
      403,
      `${challenge}, error="insufficient_scope", scope="${scope}"`,
    ];
    t.strictSame(await ask(`/v1/pets?api_key=${reader}`), lacking(IN_QUERY, 'pets:list'));
    t.strictSame(await ask('/v1/pets', { 'x-key': lister }), lacking(IN_HEADER, 'pets:read'));
    t.strictSame(await ask(`/v1/pets?api_key=${lister}`, { 'x-key': writer }), [200, undefined]);
    t.strictSame(await ask(`/v1/pets?api_key=x`, { 'x-key': writer }), lacking(IN_HEADER, 'pets:read'));
  },
);

t.test('an API key in a URL, even percent-encoded, is never logged and never becomes part of a link', async (t) => {
  let log = '';
  const write = (text: string) => {
    log += text;
  };
  const { request, port } = await start(t, { logger: pino({ level: 'trace' }, { write }), lines: { write } });
  for (const name of ['Rex', 'Mia']) {
    await request('/v1/pets', { method: 'POST', key: null, headers: { 'x-key': KEY }, body: { name, categoryId: 7 } });
  }
  const { headers } = await request(`/v1/pets?limit=1&api_key=${KEY}`, { key: null });
  t.match(headers.link, /^<\/v1\/pets\?limit=1&after=\w+>; rel="next"$/);
  t.equal((await request(`/v1/pets?limit=0&api_key=${KEY}`, { key: null })).status, 400);
  const urls = [
    `/v1/pets?api_key=${KEY}&status=sold`,
    `/v1/pets?api%5fkey=${KEY}`,
    `/v1/pets?API_KEY=${KEY}`,
    `/v1/pets?status=sold;api_key=${KEY}`,
    `/v1/pets?%E0api_key=${KEY}`,
    `/v1/pets?api_key%3D${KEY}`,
    `/v1/pets??api_key=${KEY}`,
    `/v1/pets&api_key=${KEY}`,
    `/v1/nothing?api_key=${KEY}`,
    `/livez?api_key=${KEY}`,
    `/v1/nothing/%zz?api_key=${KEY}`,
  ];
  for (const url of urls) await request(url, { key: null });
  for (const line of [
    `GET /v1/pets#api_key=${KEY} HTTP/1.1`,
    `GET /v1/api_key=${KEY} HTTP/1.1`,
    `GET /v1/pets?api_key=a-key-of-elsewhere HTTP/1.1`,
    `CONNECT /?api_key=${KEY} HTTP/1.1`,
    `GET /?api_key=${KEY} HTTP/1.1\r\n: :`,
  ]) {
    await sendRaw(port, `${line}\r\nHost: pets\r\nConnection: close\r\n\r\n`);
  }
  t.notMatch(log, KEY);
  t.notMatch(log, 'elsewhere');
  t.match(log, '"url":"/v1/pets?***&status=sold"');
  t.match(log, '"url":"/v1/pets?limit=1&***"');
  t.match(log, '"keyName":"API_KEYS"');
});

t.test(
  'if a contract accepts API keys in headers and in the query, every operation answers any request as declared',
  async (t) => {
    const service = await start(t);
    await runProperties(t, requestProperties(service, readOperations(CONTRACT)), 1 / 4);
  },
);
