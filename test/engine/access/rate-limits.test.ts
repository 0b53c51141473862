import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { buildWindowCounter } from '../../../src/contract-first/store/rates.ts';
import type { WindowCounter } from '../../../src/contract-first/store/store.ts';
import { loadConfig } from '../../config.ts';
import { ContractCheck } from '../../contract-check.ts';
import { openUrl } from '../../database.ts';
import { connectRaw } from '../../raw-client.ts';
import { KEY, type Service, type StartOptions, startService } from '../../service.ts';

const RATE_LIMITED = {
  code: 'rate_limited',
  message: 'Too many requests. Try again after as many seconds as Retry-After says.',
  status: 429,
};

/** The channel on which Node reports replies that were sent (nodejs.org/api/diagnostics_channel.html). */
const FINISHED = 'http.server.response.finish';

/** Starts a service with an API key for each of these rates. */
async function startWithKeys(t: Test, rates: (string | undefined)[], options: StartOptions = {}) {
  const store = openUrl('sqlite::memory:');
  const keys = rates.map(() => makeKey('petstore'));
  for (const [index, rate] of rates.entries()) {
    await store.createKey(toStoredKey(keys[index] as string, 'Ada', undefined, undefined, rate));
  }
  return { ...(await startService(t, { store, ...options })), keys: keys as [string, ...string[]] };
}

const limits = (env: Record<string, string>) => ({ limits: loadConfig(env) });

/**
 * Sends requests. Returns the status of each reply and its RateLimit header, without the time; undefined if it has
 * none.
 */
async function standingsOf(request: Service['request'], key: string, urls: string[]) {
  const standings: [status: number, left: string | undefined][] = [];
  for (const url of urls) {
    const { status, headers } = await request(url, { key });
    standings.push([status, headers.ratelimit?.replace(/;t=\d+$/, '')]);
  }
  return standings;
}

t.test('every reply reports how many requests the key has left; requests over the limit get 429', async (t) => {
  const { request, keys } = await startWithKeys(t, ['4/d', '1/h']);
  const [key, other] = keys;
  const created = await request('/v1/pets', { key, method: 'POST', body: { name: 'Rex', categoryId: 7 } });
  t.equal(created.headers['ratelimit-policy'], '"key";q=4;w=86400');
  const [, left, reset] = /^"key";r=(\d+);t=(\d+)$/.exec(created.headers.ratelimit as string) as string[];
  t.equal(left, '3');
  t.ok(Number(reset) >= 1 && Number(reset) <= 86_400);
  t.strictSame(await standingsOf(request, key, ['/v1/pets', '/v1/pets/7', '/v1/pets?limit=0', '/v1/pets']), [
    [200, '"key";r=2'],
    [404, '"key";r=1'],
    [400, '"key";r=0'],
    [429, '"key";r=0'],
  ]);
  const refused = await request('/v1/pets/1', { key });
  t.strictSame(refused.body, RATE_LIMITED);
  t.equal(refused.headers['retry-after'], /t=(\d+)$/.exec(refused.headers.ratelimit as string)?.[1]);
  t.equal(refused.headers.sunset, 'Thu, 05 Dec 2030 00:00:00 GMT');
  t.equal((await request('/v1/pets', { key: other as string })).headers['ratelimit-policy'], '"key";q=1;w=3600');
  t.strictSame(await standingsOf(request, KEY, ['/v1/pets']), [[200, undefined]]);
});

t.test('the rate limit KEY_RATE applies to each API key that has no rate limit of its own', async (t) => {
  const { request, keys } = await startWithKeys(t, ['none', undefined, '5/m'], limits({ KEY_RATE: '2/d' }));
  const [free, plain, own] = keys as [string, string, string];
  t.strictSame(await standingsOf(request, free, ['/v1/pets']), [[200, undefined]]);
  for (const key of [plain, KEY]) {
    t.strictSame(await standingsOf(request, key, ['/v1/pets', '/v1/pets', '/v1/pets']), [
      [200, '"key";r=1'],
      [200, '"key";r=0'],
      [429, '"key";r=0'],
    ]);
  }
  t.strictSame(await standingsOf(request, own, ['/v1/pets']), [[200, '"key";r=4']]);
});

t.test('a 403 for a missing scope also counts against the rate limit of the key', async (t) => {
  const store = openUrl('sqlite::memory:');
  const key = makeKey('petstore');
  await store.createKey(toStoredKey(key, 'Ada', undefined, ['pets:read'], '1/d'));
  const { request } = await startService(t, { store });
  const post = { key, method: 'POST', body: {} };
  t.equal((await request('/v1/pets', post)).headers.ratelimit?.replace(/;t=\d+$/, ''), '"key";r=0');
  t.equal((await request('/v1/pets', post)).status, 429);
});

t.test(
  "a request within its own rate limit is answered before the 429 replies to another client's flood of requests",
  async (t) => {
    const { port, request, keys } = await startWithKeys(t, ['1/d']);
    const get = (key: string) => `GET /v1/pets HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    await request('/v1/pets', { key: keys[0] });
    const flood = connectRaw(port, get(keys[0]));
    const neighbour = connectRaw(port, get(KEY));
    await Promise.all([flood.replies(1), neighbour.replies(1)]);
    const statuses: number[] = [];
    const note = (message: unknown) => statuses.push((message as { response: ServerResponse }).response.statusCode);
    subscribe(FINISHED, note);
    t.teardown(() => unsubscribe(FINISHED, note));
    // Both connections have requests in the same turn of the event loop, that of the flood first.
    flood.socket.write(get(keys[0]).repeat(5));
    neighbour.socket.write(get(KEY));
    const replies = await Promise.all([flood.replies(6), neighbour.replies(2)]);
    t.strictSame(statuses, [200, 429, 429, 429, 429, 429]);
    const check = new ContractCheck();
    for (const reply of replies.flat()) t.strictSame(check.problemsOf('GET', '/v1/pets', reply), []);
    for (const client of [flood, neighbour]) client.socket.destroy();
  },
);

t.test(
  'an address that sends many requests without a valid key gets 429; a valid key still works from that address',
  async (t) => {
    const trustProxy = ['127.0.0.1'];
    const { request } = await startService(t, { trustProxy, ...limits({ UNAUTHORIZED_RATE: '3/d' }) });
    const from = (address: string, key: string | null) =>
      request('/v1/pets', { key, headers: { 'x-forwarded-for': address } });
    const statuses: number[] = [];
    for (const key of ['wrong', null, 'wrong', 'wrong', KEY]) statuses.push((await from('2001:db8::1', key)).status);
    t.strictSame(statuses, [401, 401, 401, 429, 200]);
    const { headers, body } = await from('2001:db8::2', null);
    t.strictSame(body, RATE_LIMITED);
    t.match(headers['retry-after'], /^[1-9]\d*$/);
    t.equal(headers.ratelimit, undefined);
    t.equal((await from('2001:db8:0:1::1', null)).status, 401);
  },
);

t.test(
  'if a malformed body gets its 400 while the rate limit is still being checked, the client gets no second reply',
  async (t) => {
    const count = buildWindowCounter();
    const asked: string[] = [];
    const slow: WindowCounter = async (...ask) => {
      asked.push(ask[0]);
      await wait(50);
      return count(...ask);
    };
    const options = { countWindow: slow, ...limits({ UNAUTHORIZED_RATE: '1/d' }) };
    const { port, request, keys } = await startWithKeys(t, ['2/d'], options);
    for (const [index, key] of [keys[0], 'wrong'].entries()) {
      const head = `POST /v1/pets HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      // The malformed body arrives in the same packet as the head. So its 400 is sent while the rate limit is still being
      // checked.
      const client = connectRaw(port, `${head}not a chunk\r\n`);
      t.equal((await client.replies(1))[0]?.status, 400);
      t.equal(asked.length, index + 1);
      client.socket.destroy();
    }
    t.equal((await request('/v1/pets', { key: keys[0] })).status, 200);
    t.equal((await request('/v1/pets', { key: keys[0] })).status, 429);
    t.equal((await request('/v1/pets', { key: null })).status, 429);
  },
);

t.test(
  "all spellings of an address in X-Forwarded-For share one rate limit; an invalid one counts as the proxy's address",
  async (t) => {
    const trustProxy = ['127.0.0.1'];
    const { request } = await startService(t, { trustProxy, ...limits({ UNAUTHORIZED_RATE: '5/d' }) });
    const statusesOf = async (spellings: string[]) => {
      const statuses: number[] = [];
      for (const address of spellings) {
        statuses.push((await request('/v1/pets', { key: null, headers: { 'x-forwarded-for': address } })).status);
      }
      return statuses;
    };
    const v6 = [
      '2001:db8::1',
      '2001:DB8::1',
      '2001:0db8:0:0:0:0:0:1',
      '[2001:db8::1]',
      '[2001:db8::1]:80',
      '2001:db8::1%x',
    ];
    t.strictSame(await statusesOf(v6), [401, 401, 401, 401, 401, 429]);
    const v4 = [
      '192.0.2.1',
      '192.0.2.1:80',
      '::ffff:192.0.2.1',
      '::FFFF:c000:201',
      '[::ffff:192.0.2.1]:1',
      '192.0.2.1:81',
    ];
    t.strictSame(await statusesOf(v4), [401, 401, 401, 401, 401, 429]);
    const none = ['what', '', '192.0.2.01', '192.0.2.1:x', 'unknown', '_hidden', '[::1', '1'.repeat(7000)];
    t.strictSame(await statusesOf(none), [401, 401, 401, 401, 401, 429, 429, 429]);
    t.strictSame(await statusesOf(['203.0.113.1, what']), [429]);
  },
);
