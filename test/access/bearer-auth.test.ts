import { once } from 'node:events';
import { connect } from 'node:net';
import Sqlite from 'better-sqlite3';
import { pino } from 'pino';
import t from 'tap';
import { makeKey, toStoredKey } from '../../src/access/api-keys.ts';
import { openUrl } from '../database.ts';
import { KEY, type Received, type RequestOptions, type Service, startService } from '../service.ts';

const NO_KEY = 'Bearer realm="Pet Store"';
const WRONG_KEY = `${NO_KEY}, error="invalid_token"`;
const OPERATIONS: [url: string, options: RequestOptions][] = [
  ['/v1/pets', {}],
  ['/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
  ['/v1/pets/1', {}],
];

const withHeader = (authorization: string): RequestOptions => ({ key: null, headers: { authorization } });

/** Asks for the list with this key until the status is this one, as often as takes a few seconds at most. */
async function askUntil({ request }: Service, key: string, status: number): Promise<Received> {
  let reply = await request('/v1/pets', { key });
  for (let count = 0; reply.status !== status && count < 10_000; count++) reply = await request('/v1/pets', { key });
  return reply;
}

/** A log that keeps what is written, and tells when something is. */
class LineLog {
  text = '';
  #onWrite = () => {};

  write(line: string): void {
    this.text += line;
    this.#onWrite();
  }

  async has(words: string): Promise<void> {
    while (!this.text.includes(words)) {
      await new Promise<void>((resolve) => {
        this.#onWrite = resolve;
      });
    }
  }
}

t.test('every operation refuses a request without a key, and one with a wrong key, and says which', async (t) => {
  const { request } = await startService(t);
  for (const [url, options] of OPERATIONS) {
    const none = await request(url, { ...options, key: null });
    t.equal(none.status, 401);
    t.equal(none.headers['www-authenticate'], NO_KEY);
    t.strictSame(none.body, {
      code: 'unauthorized',
      message: 'The API key is missing: send Authorization: Bearer <API_KEY>.',
      status: 401,
    });
    const wrong = await request(url, { ...options, key: `${KEY}0` });
    t.equal(wrong.status, 401);
    t.equal(wrong.headers['www-authenticate'], WRONG_KEY);
    t.strictSame(wrong.body, { code: 'unauthorized', message: 'The API key is not valid.', status: 401 });
  }
});

t.test('the challenge speaks of an invalid token only where a bearer token was sent', async (t) => {
  const { request } = await startService(t);
  const challenges: [authorization: string, challenge: string][] = [
    ['', NO_KEY],
    ['Bearer', NO_KEY],
    ['Bearer ', NO_KEY],
    [KEY, NO_KEY],
    [`Basic ${Buffer.from(`ada:${KEY}`).toString('base64')}`, NO_KEY],
    [`Token ${KEY}`, NO_KEY],
    [`Bearer${KEY}`, NO_KEY],
    [`Basic ada, Bearer ${KEY}`, NO_KEY],
    ['Bearer x', WRONG_KEY],
    ['bEARER x', WRONG_KEY],
    [`Bearer ${KEY.toUpperCase()}`, WRONG_KEY],
    [`Bearer ${KEY} ${KEY}`, WRONG_KEY],
    [`Bearer ${KEY},`, WRONG_KEY],
    [`Bearer Bearer ${KEY}`, WRONG_KEY],
    [`Bearer ${'x'.repeat(8000)}`, WRONG_KEY],
  ];
  for (const [authorization, challenge] of challenges) {
    const { status, headers } = await request('/v1/pets', withHeader(authorization));
    t.equal(status, 401, authorization);
    t.equal(headers['www-authenticate'], challenge, authorization);
  }
});

t.test('the scheme is written in any case', async (t) => {
  const { request } = await startService(t);
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  ']) {
    t.equal((await request('/v1/pets', withHeader(`${scheme} ${KEY}`))).status, 200, scheme);
  }
});

t.test('each configured key opens the door', async (t) => {
  const { request } = await startService(t, { apiKeys: [KEY, 'another-key-0123456789'] });
  for (const key of [KEY, 'another-key-0123456789']) t.equal((await request('/v1/pets', { key })).status, 200);
  t.equal((await request('/v1/pets', { key: `${KEY},another-key-0123456789` })).status, 401);
});

t.test('without a key, nothing else that is wrong is told: 401 comes before 400, 413 and 415', async (t) => {
  const { request } = await startService(t);
  const post = (body: string, headers = {}) => ({ method: 'POST', body, headers });
  const requests: [url: string, options: RequestOptions, status: number][] = [
    ['/v1/pets', post('{"name":'), 400],
    ['/v1/pets', post('{}'), 400],
    ['/v1/pets', post(''), 400],
    ['/v1/pets', post('{}', { 'content-type': 'text/plain' }), 415],
    ['/v1/pets', post('{}', { 'content-encoding': 'gzip' }), 415],
    ['/v1/pets', post(JSON.stringify('x'.repeat(20_000))), 413],
    ['/v1/pets?limit=0', {}, 400],
    ['/v1/pets?unknown=1', {}, 400],
    ['/v1/pets/x', {}, 400],
    ['/v1/pets/1', {}, 404],
  ];
  for (const [url, options, status] of requests) {
    t.equal((await request(url, { ...options, key: null })).status, 401, `no key, ${status}`);
    t.equal((await request(url, { ...options, key: 'wrong' })).status, 401, `wrong key, ${status}`);
    t.equal((await request(url, options)).status, status);
  }
});

t.test('documentation and health need no key, and neither does an answer that nothing is there', async (t) => {
  const { request } = await startService(t);
  for (const url of ['/livez', '/readyz', '/openapi.yaml', '/openapi.json', '/docs/']) {
    t.equal((await request(url, { key: null })).status, 200, url);
  }
  for (const options of [{ key: null }, { key: 'wrong' }]) {
    t.equal((await request('/v1/nothing', options)).status, 404);
    t.equal((await request('/v1/pets', { ...options, method: 'DELETE' })).status, 405);
  }
});

t.test('a stored key opens the door, unless it is expired or revoked', async (t) => {
  const store = openUrl('sqlite::memory:');
  const [valid, lasting, expired, revoked] = [makeKey(), makeKey(), makeKey(), makeKey()];
  await store.createKey(toStoredKey(valid, 'valid'));
  await store.createKey(toStoredKey(lasting, 'lasting', new Date(Date.now() + 86_400_000)));
  await store.createKey(toStoredKey(expired, 'expired', new Date(Date.now() - 1)));
  await store.createKey({ ...toStoredKey(revoked, 'revoked'), revokedAt: new Date().toISOString() });
  const { request } = await startService(t, { store, apiKeys: [] });
  for (const key of [valid, lasting]) t.equal((await request('/v1/pets', { key })).status, 200);
  for (const key of [expired, revoked]) {
    const { status, headers } = await request('/v1/pets', { key });
    t.equal(status, 401);
    t.equal(headers['www-authenticate'], WRONG_KEY);
  }
  const { hash, id } = (await store.listKeys())[0] as { hash: string; id: string };
  for (const key of [hash, id]) t.equal((await request('/v1/pets', { key })).status, 401);
});

t.test('a running server takes a new key, and refuses it when it is revoked', async (t) => {
  const service = await startService(t);
  const key = makeKey();
  const stored = toStoredKey(key, 'Ada');
  t.equal((await service.request('/v1/pets', { key })).status, 401);
  await service.store.createKey(stored);
  t.equal((await askUntil(service, key, 200)).status, 200);
  await service.store.revokeKey(stored.id, new Date().toISOString());
  t.equal((await askUntil(service, key, 401)).status, 401);
});

t.test('a running server refuses a key from its expiry on', async (t) => {
  const store = openUrl('sqlite::memory:');
  const key = makeKey();
  const expiry = new Date(Date.now() + 1000);
  await store.createKey(toStoredKey(key, 'Ada', expiry));
  const service = await startService(t, { store });
  t.equal((await askUntil(service, key, 401)).status, 401);
  t.ok(new Date() >= expiry);
});

t.test('while the store does not answer, the keys that are known stay valid, and the log says so', async (t) => {
  const file = `${t.testdir()}/pets.db`;
  const store = openUrl(`sqlite:${file}`);
  const [known, added] = [makeKey(), makeKey()];
  await store.createKey(toStoredKey(known, 'known'));
  const log = new LineLog();
  const service = await startService(t, { store, log });
  const db = new Sqlite(file);
  t.teardown(() => db.close());
  db.exec('ALTER TABLE api_keys RENAME TO elsewhere');
  await log.has('could not be read again');
  t.equal((await service.request('/v1/pets', { key: known })).status, 200);
  db.exec('ALTER TABLE elsewhere RENAME TO api_keys');
  await store.createKey(toStoredKey(added, 'added'));
  t.equal((await askUntil(service, added, 200)).status, 200);
});

t.test('a key never gets into the log, however much is logged', async (t) => {
  const log = new LineLog();
  const { request, port } = await startService(t, { logger: pino({ level: 'trace' }, log) });
  for (const [url, options] of OPERATIONS) {
    await request(url, options);
    await request(url, withHeader(`Basic ${KEY}`));
    await request(url, { ...options, key: `${KEY}0` });
  }
  await request('/v1/pets', { method: 'POST', body: '{"name":' });
  await request('/v1/nothing');
  const socket = connect(port, '127.0.0.1').end(`GET /livez HTTP/1.1\r\nAuthorization: Bearer ${KEY}\r\n: :\r\n\r\n`);
  await Promise.all([once(socket.resume(), 'close'), log.has('malformed request')]);
  t.match(log.text, /"status":201/);
  t.match(log.text, /"status":401/);
  t.notMatch(log.text, KEY);
  t.notMatch(log.text, /bearer/i);
});
