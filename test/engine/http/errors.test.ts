import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { StoreUnavailable } from '../../../src/contract-first/store/store.ts';
import { type CheckedReply, ContractCheck } from '../../contract-check.ts';
import { type OwnStore, openUrl } from '../../database.ts';
import { CONTRACT, readOperations } from '../../properties/operations.ts';
import { connectRaw, sendRaw } from '../../raw-client.ts';
import { KEY, startService } from '../../service.ts';

const check = new ContractCheck();

/** Sends these bytes. Returns the last reply, which must be valid as the default reply of the contract. */
async function failureOf(
  port: number,
  ...bytes: string[]
): Promise<{ status: number; code: string; headers: CheckedReply['headers'] }> {
  const reply = (await sendRaw(port, ...bytes)).at(-1) as CheckedReply;
  // Only a reply to a request that reached the deprecated getPet has its headers.
  const url = reply.headers.deprecation ? '/v1/pets/1' : '/v1/pets';
  const problems = check.problemsOf('GET', url, reply);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return { status: reply.status, headers: reply.headers, code: JSON.parse(reply.text).code };
}

const get = (url: string, ...headers: string[]) =>
  [`GET ${url} HTTP/1.1`, 'Host: pets', 'Connection: close', `Authorization: Bearer ${KEY}`, ...headers, '', ''].join(
    '\r\n',
  );

t.test('the server answers bytes that are not HTTP with 400 and the Error body', async (t) => {
  const { port } = await startService(t);
  for (const bytes of [
    'nonsense\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01',
    get('/v1/pets', 'Bad Header: x'),
    get('/v1/pets', 'Content-Length: 3', 'Transfer-Encoding: chunked'),
  ]) {
    t.match(await failureOf(port, bytes), { status: 400, code: 'malformed_request' }, JSON.stringify(bytes));
  }
});

t.test('an unknown method gets 501, and an HTTP version other than 1.0 and 1.1 gets 505', async (t) => {
  const { port } = await startService(t);
  for (const method of ['BREW', 'get', 'M-SEARCHES', '!#$%&']) {
    const bytes = `${method} /v1/pets HTTP/1.1\r\nHost: pets\r\n\r\n`;
    t.match(await failureOf(port, bytes), { status: 501, code: 'not_implemented' }, method);
  }
  const second = `${get('/v1/pets').replace('Connection: close\r\n', '')}BREW / HTTP/1.0\r\n\r\n`;
  t.match(await failureOf(port, second), { status: 501 }, 'an unknown method after another request');
  for (const version of ['2.0', '3.0', '9.9', '0.9', '1.2']) {
    const bytes = `GET /v1/pets HTTP/${version}\r\nHost: pets\r\n\r\n`;
    t.match(await failureOf(port, bytes), { status: 505, code: 'http_version_not_supported' }, version);
  }
});

t.test("an operation's path with an extra slash at its end gets 404, with any method and without a key", async (t) => {
  const { request } = await startService(t);
  for (const method of ['GET', 'POST', 'DELETE']) {
    for (const url of ['/v1/pets/', '/v1/pets/?limit=1']) {
      const { status } = await request(url, { method, key: null });
      t.equal(status, 404, `${method} ${url}`);
    }
  }
});

t.test('the 415 for an unsupported media type or a compressed body lists what the server accepts', async (t) => {
  const { request } = await startService(t);
  const post = (headers: Record<string, string>) => request('/v1/pets', { method: 'POST', body: '{}', headers });
  t.match(await post({ 'content-type': 'text/plain' }), { status: 415, headers: { accept: 'application/json' } });
  const compressed = await post({ 'content-encoding': 'gzip' });
  t.match(compressed, { status: 415, headers: { 'accept-encoding': 'identity', accept: undefined } });
});

t.test('a path with invalid percent-encoding gets 400', async (t) => {
  const { port } = await startService(t);
  t.match(await failureOf(port, get('/v1/pets/%zz')), { status: 400, code: 'malformed_request' });
  t.match(await failureOf(port, get('/v1/pets#api_key')), { status: 400, code: 'malformed_request' });
});

t.test('request headers that are too large get 431', async (t) => {
  const { port } = await startService(t);
  t.match(await failureOf(port, get('/v1/pets', `X-Long: ${'x'.repeat(20_000)}`)), {
    status: 431,
    code: 'headers_too_large',
  });
});

t.test(
  'a URL that is too long gets 414, and headers that are too large get 431, even if split over two packets',
  async (t) => {
    const { port } = await startService(t);
    const x = 'x'.repeat(10_000);
    const path = '/v1/pets';
    for (const [first, second, status] of [
      [get(path, `X-Long: ${x}`).slice(0, -4), `${x}\r\n\r\n`, 431],
      [get(path, `X-Long: ${x}`).slice(0, -2), `X-More: ${x}\r\n\r\n`, 431],
      [`GET ${path}?${x}`, `${x} HTTP/1.1\r\nHost: pets\r\n\r\n`, 414],
    ] as [string, string, number][]) {
      const { socket, replies } = connectRaw(port, first);
      await once(socket, 'connect');
      await wait(50);
      socket.write(second);
      t.strictSame(
        (await replies()).map((reply) => reply.status),
        [status],
      );
      socket.destroy();
    }
  },
);

t.test('a URL that is too long gets 414, for any length, in the path and in the query', async (t) => {
  const { port } = await startService(t);
  for (const length of [8_192, 12_000, 100_000]) {
    for (const url of [
      `/v1/pets/${'1'.repeat(length)}`,
      `/v1/pets?x=${'1'.repeat(length)}`,
      `/${'x'.repeat(length)}`,
    ]) {
      t.match(await failureOf(port, get(url)), { status: 414, code: 'uri_too_long' }, url.slice(0, 12) + length);
    }
  }
});

t.test('chunk extensions that are too long get 413', async (t) => {
  const { port } = await startService(t);
  const head = `POST /v1/pets HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  t.match(await failureOf(port, `${head}1;${'x'.repeat(20_000)}\r\n`), { status: 413, code: 'payload_too_large' });
});

t.test('a CONNECT request gets 405', async (t) => {
  const { port } = await startService(t);
  t.match(await failureOf(port, 'CONNECT pets:443 HTTP/1.1\r\nHost: pets\r\n\r\n'), {
    status: 405,
    headers: { allow: 'GET, HEAD' },
  });
});

t.test(
  'a request that matches no route gets 404 or 405 with any body; so does a QUERY request without a media type',
  async (t) => {
    const { port } = await startService(t);
    for (const headers of [
      [],
      ['Content-Type: nonsense'],
      ['Content-Type: application/json', 'Content-Length: 1', '', '{'],
      ['Content-Type: application/json', 'Content-Length: 999999999'],
    ]) {
      for (const method of ['PUT', 'QUERY', 'DELETE']) {
        for (const [url, status] of [
          ['/nope', 404],
          ['/v1/pets', 405],
          ['/docs', 405],
          ['/livez', 405],
        ] as [string, number][]) {
          const bytes = [`${method} ${url} HTTP/1.1`, 'Host: pets', 'Connection: close', ...headers, '', ''].join(
            '\r\n',
          );
          t.match(await failureOf(port, bytes), { status }, `${method} ${url}`);
        }
      }
    }
  },
);

t.test("an error thrown by Fastify or a plugin keeps its status, and gets the contract's Error body", async (t) => {
  let error: Error;
  const memory = openUrl('sqlite::memory:');
  const store: OwnStore = {
    ...memory,
    collections: {
      pets: {
        ...memory.records,
        get: () => {
          throw error;
        },
      },
    },
  };
  const { request } = await startService(t, { store });
  for (const [statusCode, status, code] of [
    [400, 400, 'bad_request'],
    [404, 404, 'not_found'],
    [413, 413, 'payload_too_large'],
    [414, 414, 'uri_too_long'],
    [415, 415, 'unsupported_media_type'],
    [418, 418, 'bad_request'],
    [500, 500, 'internal_error'],
    [302, 500, 'internal_error'],
  ] as [number, number, string][]) {
    error = Object.assign(new Error('A plugin says so.'), { statusCode });
    t.match(await request('/v1/pets/1'), { status, body: { code } });
  }
});

t.test('an unknown path gets 404 with any method, and needs no key', async (t) => {
  const { request } = await startService(t);
  for (const url of [
    '/nope',
    '/v1',
    '/v1/',
    '/v2/pets',
    '/v1/Pets',
    '//v1/pets',
    '/v1/pets/1/no-such-part',
    '/store/orders',
  ]) {
    for (const method of ['GET', 'POST', 'PROPFIND']) {
      const { status, body } = await request(url, { method, key: null });
      t.equal(status, 404, `${method} ${url}`);
      t.match(body, { code: 'route_not_found' });
    }
  }
});

/** The methods of each path, with its parameters replaced by 1. */
const SERVED = new Map<string, string[]>([['/livez', ['GET', 'HEAD']]]);
for (const { method, path } of readOperations(CONTRACT)) {
  const url = path.replace(/\{\w+\}/g, '1');
  const methods = [...(SERVED.get(url) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])];
  // `readOperations` lists an operation once for each media type of its body.
  SERVED.set(url, [...new Set(methods)].sort());
}

t.test('a wrong method gets 405 with a list of the allowed methods, and needs no key', async (t) => {
  const { request } = await startService(t);
  for (const [url, methods] of SERVED) {
    const others = ['DELETE', 'GET', 'OPTIONS', 'PATCH', 'POST', 'PROPFIND', 'PUT'].filter(
      (method) => !methods.includes(method),
    );
    for (const method of others) {
      const { status, headers, body } = await request(`${url}?limit=1`, { method, key: null });
      t.equal(status, 405, `${method} ${url}`);
      t.equal(headers.allow, methods.join(', '));
      t.match(body, { code: 'method_not_allowed' });
    }
  }
});

t.test('if the server fails unexpectedly, the reply is a 500, and only the log gives the cause', async (t) => {
  const lines: string[] = [];
  const store = openUrl('sqlite::memory:');
  const broken: OwnStore = {
    ...store,
    collections: {
      pets: {
        ...store.records,
        get: () => {
          throw new Error('SELECT secret FROM /etc/passwd');
        },
      },
    },
  };
  const { request } = await startService(t, { store: broken, log: { write: (line) => lines.push(line) } });
  const { status, headers, text, body } = await request('/v1/pets/1');
  t.equal(status, 500);
  t.match(body, { code: 'internal_error' });
  t.notMatch(text, /secret|passwd|at /);
  const logged = lines.map((line) => JSON.parse(line)).find(({ level }) => level === 50);
  t.equal(logged.reqId, headers['x-request-id']);
  t.match(logged.err, { message: /secret/, stack: /errors\.test/ });
});

t.test('during an outage of the store, the reply is a 503 with Retry-After; later requests are served', async (t) => {
  const store = openUrl('sqlite::memory:');
  let isBroken = true;
  const flaky: OwnStore = {
    ...store,
    collections: {
      pets: {
        ...store.records,
        list: (query) => {
          if (isBroken) throw new StoreUnavailable('No.');
          return store.records.list(query);
        },
      },
    },
  };
  const { request } = await startService(t, { store: flaky });
  const { status, headers } = await request('/v1/pets');
  t.equal(status, 503);
  t.equal(headers['retry-after'], '1');
  isBroken = false;
  t.equal((await request('/v1/pets')).status, 200);
});

t.test('every request gets its own id, which is also in its log line', async (t) => {
  const lines: string[] = [];
  const { request } = await startService(t, { log: { write: (line) => lines.push(line) } });
  const ids = [await request('/v1/pets'), await request('/v1/pets'), await request('/nope')].map(
    ({ headers }) => headers['x-request-id'],
  );
  t.equal(new Set(ids).size, 3);
  const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  t.strictSame(
    logged.map(({ reqId, method, url, status }) => ({ reqId, method, url, status })),
    [
      { reqId: ids[0], method: 'GET', url: '/v1/pets', status: 200 },
      { reqId: ids[1], method: 'GET', url: '/v1/pets', status: 200 },
      { reqId: ids[2], method: 'GET', url: '/nope', status: 404 },
    ],
  );
});
