import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import fastify from 'fastify';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { type AuthOptions, addAuth } from '../../../src/contract-first/engine/access/auth.ts';
import { toCaller } from '../../../src/contract-first/engine/access/caller.ts';
import { StoredKeys } from '../../../src/contract-first/engine/access/stored-keys.ts';
import type { KeyLocation, Requirement } from '../../../src/contract-first/engine/contract/contract.ts';
import type { HttpError } from '../../../src/contract-first/engine/errors/catalogue.ts';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { Sqlite } from '../../../src/contract-first/store/sqlite/sqlite.ts';
import type { Store } from '../../../src/contract-first/store/store.ts';
import { openUrl } from '../../database.ts';
import { edited } from '../../edited-contract.ts';
import { holdClock } from '../../held-clock.ts';
import { KEY, type ReceivedReply, type RequestOptions, type Service, startService } from '../../service.ts';

const INFO = pino.levels.values.info as number;
const NO_KEY = 'Bearer realm="Pet Store"';
const WRONG_KEY = `${NO_KEY}, error="invalid_token"`;
type Call = [url: string, options: RequestOptions];
const OPERATIONS: Call[] = [
  ['/v1/pets', {}],
  ['/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
  ['/v1/pets/1', {}],
];

const withHeader = (authorization: string): RequestOptions => ({ key: null, headers: { authorization } });

/** Requests the list with this key until the reply has this status, for at most half a minute. */
async function askUntil({ request }: Service, key: string, status: number): Promise<ReceivedReply> {
  let reply = await request('/v1/pets', { key });
  for (let count = 0; reply.status !== status && count < 600; count++) {
    await wait(50);
    reply = await request('/v1/pets', { key });
  }
  return reply;
}

/** Two locations in which a request can send a key. */
const PLACES: KeyLocation[] = [
  { in: 'bearer', name: 'Authorization' },
  { in: 'header', name: 'X-Key' },
];

/** A log that collects all lines, and wakes up `has` at each line. */
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

t.test(
  'every operation answers 401 to a missing key and to a wrong key, with a different message for each',
  async (t) => {
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
  },
);

t.test(
  "the server logs no error for a wrong key, even if the logger's child loggers have their own log level",
  async (t) => {
    const log = new LineLog();
    const logger = pino({}, log);
    const child = logger.child.bind(logger);
    // A pino child with its own level has its own methods. The key plugin then takes it for a logger that expects its
    // log lines.
    logger.child = (bindings, options) => child(bindings, { ...options, level: 'debug' } as typeof options);
    const { request } = await startService(t, { logger, log });
    for (const key of [null, `${KEY}0`]) t.equal((await request('/v1/pets', { key })).status, 401);
    const lines = log.text.split('\n').filter(Boolean);
    t.ok(lines.length >= 2);
    t.strictSame(
      lines.filter((line) => JSON.parse(line).level > INFO),
      [],
    );
  },
);

t.test('if a client sends the word Bearer twice, the message of the 401 points out the repetition', async (t) => {
  const { request } = await startService(t);
  const { status, body } = await request('/v1/pets', { key: `Bearer ${KEY}` });
  t.match(
    { status, body },
    { status: 401, body: { message: 'The API key is not valid. The word Bearer was sent twice.' } },
  );
});

t.test(
  'the WWW-Authenticate header of a 401 contains invalid_token only if the request sent a bearer token',
  async (t) => {
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
  },
);

t.test(
  "the realm in WWW-Authenticate is API if a header cannot contain any character of the contract's title",
  async (t) => {
    for (const title of ['Зоо', 'Зоо «Лапа»']) {
      const yaml = edited(({ info }) => (info.title = title));
      const file = `${t.testdir({ 'petstore.yaml': yaml })}/petstore.yaml`;
      const { request } = await startService(t, { contract: await loadContract(file) });
      t.equal((await request('/v1/pets', withHeader(''))).headers['www-authenticate'], 'Bearer realm="API"', title);
    }
  },
);

t.test('the server accepts the word Bearer of the Authorization header in upper and in lower case', async (t) => {
  const { request } = await startService(t);
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  ']) {
    t.equal((await request('/v1/pets', withHeader(`${scheme} ${KEY}`))).status, 200, scheme);
  }
});

t.test('the server accepts each key of the setting API_KEYS', async (t) => {
  const { request } = await startService(t, { apiKeys: [KEY, 'another-key-0123456789'] });
  for (const key of [KEY, 'another-key-0123456789']) t.equal((await request('/v1/pets', { key })).status, 200);
  t.equal((await request('/v1/pets', { key: `${KEY},another-key-0123456789` })).status, 401);
});

t.test(
  'a request without a key gets 401, even if the same request with a key would get 400, 404, 413 or 415',
  async (t) => {
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
  },
);

t.test('the documentation, the health checks and the replies 404 and 405 need no key', async (t) => {
  const { request } = await startService(t);
  for (const url of ['/livez', '/readyz', '/openapi.yaml', '/openapi.json', '/docs/']) {
    t.equal((await request(url, { key: null })).status, 200, url);
  }
  for (const options of [{ key: null }, { key: 'wrong' }]) {
    t.equal((await request('/v1/nothing', options)).status, 404);
    t.equal((await request('/v1/pets', { ...options, method: 'DELETE' })).status, 405);
  }
});

t.test('an API key in the database is accepted until it expires or is revoked', async (t) => {
  const store = openUrl('sqlite::memory:');
  const [valid, lasting, expired, revoked] = [
    makeKey('petstore'),
    makeKey('petstore'),
    makeKey('petstore'),
    makeKey('petstore'),
  ];
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

t.test(
  'an API key with scopes may call the operations that need one of these scopes, and gets 403 for others',
  async (t) => {
    const store = openUrl('sqlite::memory:');
    const [reader, writer, both] = [makeKey('petstore'), makeKey('petstore'), makeKey('petstore')];
    await store.createKey(toStoredKey(reader, 'reader', undefined, ['pets:read']));
    await store.createKey(toStoredKey(writer, 'writer', undefined, ['pets:write']));
    await store.createKey(toStoredKey(both, 'both', undefined, ['pets:read', 'pets:write']));
    const { request } = await startService(t, { store });
    const [list, create, get] = OPERATIONS as [Call, Call, Call];
    const statuses = async (key: string) => {
      const found: number[] = [];
      for (const [url, options] of [create, list, get, list, create]) {
        found.push((await request(url, { ...options, key })).status);
      }
      return found;
    };
    t.strictSame(await statuses(both), [201, 200, 200, 200, 201]);
    t.strictSame(await statuses(reader), [403, 200, 200, 200, 403]);
    t.strictSame(await statuses(writer), [201, 403, 403, 403, 201]);
    const { headers, body } = await request(create[0], { ...create[1], key: reader });
    t.equal(headers['www-authenticate'], `${NO_KEY}, error="insufficient_scope", scope="pets:write"`);
    const message = 'The API key may not do this: it lacks the scope pets:write.';
    t.strictSame(body, { code: 'forbidden', message, status: 403 });
  },
);

t.test(
  'if an API key lacks the scope that an operation needs, the server answers 403 without reading the body',
  async (t) => {
    const store = openUrl('sqlite::memory:');
    const key = makeKey('petstore');
    await store.createKey(toStoredKey(key, 'reader', undefined, ['pets:read']));
    const { request } = await startService(t, { store });
    for (const headers of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }]) {
      t.equal((await request('/v1/pets', { key, method: 'POST', body: 'x'.repeat(20_000), headers })).status, 403);
    }
  },
);

t.test('a running server accepts a newly created API key, and answers 401 once the key is revoked', async (t) => {
  const service = await startService(t);
  const key = makeKey('petstore');
  const stored = toStoredKey(key, 'Ada');
  t.equal((await service.request('/v1/pets', { key })).status, 401);
  await service.store.createKey(stored);
  t.equal((await askUntil(service, key, 200)).status, 200);
  await service.store.revokeKey(stored.id, new Date().toISOString());
  t.equal((await askUntil(service, key, 401)).status, 401);
});

t.test('a running server answers 401 once an API key has expired', async (t) => {
  const store = openUrl('sqlite::memory:');
  const key = makeKey('petstore');
  const expiry = new Date(Date.now() + 1000);
  await store.createKey(toStoredKey(key, 'Ada', expiry));
  const service = await startService(t, { store });
  t.equal((await askUntil(service, key, 401)).status, 401);
  t.ok(new Date() >= expiry);
});

t.test(
  'while the store cannot read API keys, keys that the server already knows stay valid; the log reports the outage',
  async (t) => {
    const file = `${t.testdir()}/pets.db`;
    const store = openUrl(`sqlite:${file}`);
    const [known, added] = [makeKey('petstore'), makeKey('petstore')];
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
  },
);

t.test(
  'if the database file is moved away and back, the log reports one outage, and a key revoked afterwards gets 401',
  async (t) => {
    const file = `${t.testdir()}/pets.db`;
    const store = openUrl(`sqlite:${file}`);
    const key = makeKey('petstore');
    const stored = toStoredKey(key, 'Ada');
    await store.createKey(stored);
    const log = new LineLog();
    const service = await startService(t, { store, log });
    renameSync(file, `${file}.moved`);
    await log.has('could not be read again; those known stay valid for 60 seconds');
    t.equal((await service.request('/readyz')).status, 503);
    t.equal((await service.request('/v1/pets', { key })).status, 200);
    renameSync(`${file}.moved`, file);
    await log.has('can be read again');
    await store.revokeKey(stored.id, new Date().toISOString());
    t.equal((await askUntil(service, key, 401)).status, 401);
    t.equal(log.text.match(/could not be read again/g)?.length, 1);
  },
);

/**
 * Starts an app with one operation. Returns a function that sends headers to it and returns the status. `security` are
 * the operation's alternative requirements.
 */
async function startWithWays(
  t: Test,
  security: Requirement[],
  options: Partial<AuthOptions> & Pick<AuthOptions, 'store'>,
) {
  const app = fastify();
  const logger = pino({ level: 'silent' });
  app.setErrorHandler<HttpError>(({ status, body }, _request, reply) => reply.code(status).send(body));
  const authFor = await addAuth(app, { logger, apiKeys: [KEY], realm: 'Test', ...options });
  app.addHook(
    'onRequest',
    authFor(security, () => {}),
  );
  app.get('/', () => 'ok');
  t.teardown(async () => {
    await app.close();
    await options.store.close();
  });
  return async (headers: Record<string, string>) => (await app.inject({ url: '/', headers })).statusCode;
}

t.test(
  'if the server cannot read the stored API keys for too long, stored keys get 503, and keys of API_KEYS still work',
  async (t) => {
    const file = `${t.testdir()}/pets.db`;
    const store = openUrl(`sqlite:${file}`);
    const key = makeKey('petstore');
    await store.createKey(toStoredKey(key, 'Ada'));
    const ways = PLACES.map((location) => ({ location, scopes: [], alsoNeeded: [] }));
    const send = await startWithWays(t, ways, { store, maxKeyAge: 2000 });
    const statusOf = (token: string) => send({ authorization: `Bearer ${token}` });
    const asApiKey = (token: string) => send({ 'x-key': token });
    const until = async (status: number) => {
      for (let count = 0; (await statusOf(key)) !== status && count < 1000; count++) await wait(20);
    };
    t.equal(await statusOf(key), 200);
    renameSync(file, `${file}.moved`);
    await until(503);
    t.strictSame([await statusOf(key), await statusOf('unknown'), await statusOf(KEY)], [503, 503, 200]);
    t.strictSame([await asApiKey(key), await asApiKey('unknown'), await asApiKey(KEY)], [503, 503, 200]);
    renameSync(`${file}.moved`, file);
    await until(200);
    t.strictSame([await statusOf(key), await statusOf('unknown'), await statusOf(KEY)], [200, 401, 200]);
  },
);

const [BEARER, HEADER] = PLACES as [KeyLocation, KeyLocation];
const WAYS = [
  { location: HEADER, scopes: ['pets:write'], alsoNeeded: [] },
  { location: BEARER, scopes: ['pets:read'], alsoNeeded: [] },
];

t.test('an API key in one header does not fulfil a security requirement for a key in another header', async (t) => {
  const store = openUrl('sqlite::memory:');
  const key = makeKey('petstore');
  await store.createKey(toStoredKey(key, 'Ada', undefined, ['pets:read']));
  const send = await startWithWays(t, WAYS, { store });
  t.equal(await send({ 'x-key': key }), 403);
  t.equal(await send({ 'x-key': key, authorization: 'Bearer unknown' }), 403);
  t.equal(await send({ 'x-key': key, authorization: `Bearer ${key}` }), 200);
});

t.test(
  'a request whose key lacks a scope for one security requirement is admitted if it fulfils another requirement',
  async (t) => {
    const key = makeKey('petstore');
    const both = { location: HEADER, scopes: [], alsoNeeded: [{ location: BEARER, scopes: ['pets:write'] }] };
    for (const [scope, status] of [
      ['pets:read', 200],
      ['pets:list', 403],
    ] as const) {
      const store = openUrl('sqlite::memory:');
      await store.createKey(toStoredKey(key, 'Ada', undefined, ['pets:read']));
      const send = await startWithWays(t, [both, { location: BEARER, scopes: [scope], alsoNeeded: [] }], { store });
      t.equal(await send({ 'x-key': key, authorization: `Bearer ${key}` }), status);
    }
  },
);

t.test(
  'if the server cannot check the key for a second security requirement, it answers 503, whatever the first check gave',
  async (t) => {
    const store = openUrl('sqlite::memory:');
    const key = makeKey('petstore');
    await store.createKey(toStoredKey(key, 'Ada', undefined, [], '9/d'));
    // From the second call on, the clock jumps while the shared count is fetched, so that the stored keys are then too
    // old.
    const clock = holdClock(t);
    let count = 0;
    const countWindow = async () => {
      if (count++ > 0) clock.pass(60_001);
      return { total: 1, ends: 60_000 };
    };
    const send = await startWithWays(t, WAYS, { store, countWindow });
    t.equal(await send({ authorization: `Bearer ${key}` }), 403);
    t.equal(await send({ 'x-key': key, authorization: `Bearer ${key}` }), 503);
  },
);

t.test(
  'the server rereads only changed API keys from the store, and never starts a second read before the first one ends',
  async (t) => {
    const store = openUrl('sqlite::memory:');
    t.teardown(() => store.close());
    for (const name of ['Ben', 'Cleo', 'Dan']) await store.createKey(toStoredKey(makeKey('petstore'), name));
    let [asked, atOnce, most, listed] = [0, 0, 0, 0];
    const slow: Store = {
      ...store,
      readKeys: async (since) => {
        asked++;
        most = Math.max(most, ++atOnce);
        await wait(700);
        atOnce--;
        const changes = await store.readKeys(since);
        listed += changes.keys.length;
        return changes;
      },
    };
    const logger = pino({ level: 'silent' });
    const keys = new StoredKeys({
      store: slow,
      logger,
      toCaller: (key) => toCaller(key, undefined, { usedAt: undefined }),
    });
    await keys.start();
    while (asked < 3) await wait(50);
    t.strictSame([most, listed], [1, 3]);
    const stored = toStoredKey(makeKey('petstore'), 'Ada');
    await store.createKey(stored);
    while (!keys.find(stored.hash)) await wait(50);
    t.strictSame([most, listed], [1, 4]);
    keys.stop();
    const before = asked;
    await wait(1500);
    t.ok(asked <= before + 1);
  },
);

t.test('an API key never appears in the log, at any log level', async (t) => {
  const log = new LineLog();
  const { request, port } = await startService(t, { logger: pino({ level: 'trace' }, log), lines: log });
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

t.test(
  'a request with an API key whose stored data is damaged gets 401, and the log names the key; other keys still work',
  async (t) => {
    const file = `${t.testdir()}/pets.db`;
    const store = openUrl(`sqlite:${file}`);
    const [edited, revoked, kept] = [makeKey('petstore'), makeKey('petstore'), makeKey('petstore')];
    const stored = [toStoredKey(edited, 'Ada'), toStoredKey(revoked, 'Bob'), toStoredKey(kept, 'Cai')] as const;
    for (const key of stored) await store.createKey(key);
    const log = new LineLog();
    const service = await startService(t, { store, log });
    const statusOf = async (key: string) => (await service.request('/v1/pets', { key })).status;
    t.equal(await statusOf(edited), 200);
    const db = new Sqlite(file);
    db.exec("UPDATE api_keys SET rate = '10/sec' WHERE name = 'Ada'");
    db.close();
    await store.revokeKey(stored[1].id, new Date().toISOString());
    await askUntil(service, revoked, 401);
    t.strictSame(await Promise.all([edited, revoked, kept].map(statusOf)), [401, 401, 200]);
    t.match(log.text, `"keyId":"${stored[0].id}","keyName":"Ada"`);
    t.match(log.text, /A rate is a number .*not 10\/sec.*a stored API key cannot be read, and is treated as invalid/);
  },
);
