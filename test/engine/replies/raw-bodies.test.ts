import { EventEmitter, on, once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import t from 'tap';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { connectRaw } from '../../raw-client.ts';
import { KEY } from '../../service.ts';

const reply = (type: string, schema: Json) => ({ responses: { '200': { content: { [type]: { schema } } } } });
const YAML = withPaths({
  '/table': { get: operation('table', reply('text/csv', { type: 'string', description: 'All pets.' })) },
  '/picture': { get: operation('picture', reply('image/png', { type: 'string', format: 'binary' })) },
  '/anything': { get: operation('anything', reply('application/octet-stream', {})) },
});
const MIB = 'x'.repeat(1024 * 1024);

/** All tests use one server, whose handlers answer with `body()`. */
let body: () => unknown;
const log: string[] = [];
const handler = () => ({ status: 200, body: body() });
const handlers = { table: handler, picture: handler, anything: async () => ({ status: 200, body: await body() }) };
const { app, port, request } = await serve(t, YAML, handlers, { log: { write: (line) => log.push(line) } });
t.beforeEach(() => log.splice(0));

const ask = (method = 'GET') => `${method} /v1/table HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;

/** Makes a stream of chunks that may end with an error. `state` and `seen` report how far it was read. */
function watched(chunks: unknown[], failure?: Error) {
  const seen = new EventEmitter();
  const state = { taken: 0, isOver: false };
  async function* make() {
    try {
      for (const chunk of chunks) {
        state.taken++;
        seen.emit('taken');
        yield chunk;
      }
      if (failure) throw failure;
    } finally {
      state.isOver = true;
      seen.emit('over');
    }
  }
  return { make, state, seen };
}

t.test(
  "the server sends a handler's text, bytes or stream unchanged, with the media type of the contract",
  async (t) => {
    const cases: [url: string, type: string, make: () => unknown, text: string, isWhole: boolean][] = [
      ['/v1/table', 'text/csv; charset=utf-8', () => 'id,name\n1,Zoë\n', 'id,name\n1,Zoë\n', true],
      [
        '/v1/table',
        'text/csv; charset=utf-8',
        () => watched(['id,', '', 'Zoë', Buffer.from('!')]).make(),
        'id,Zoë!',
        false,
      ],
      ['/v1/picture', 'image/png', () => Uint8Array.of(137, 80), '\ufffdP', true],
      ['/v1/anything', 'application/octet-stream', () => Readable.from([Buffer.from('a'), 'b']), 'ab', false],
      ['/v1/anything', 'application/octet-stream', () => watched([]).make(), '', true],
    ];
    for (const [url, type, make, text, isWhole] of cases) {
      body = make;
      const { headers, ...got } = await request(url);
      t.match({ ...got, type: headers['content-type'] }, { status: 200, type, text });
      t.equal('content-length' in headers, isWhole);
      t.match(headers, { 'x-request-id': /./ });
    }
  },
);

t.test("HEAD gets the headers of GET; the handler's stream produces only its first chunk", async (t) => {
  const { make, state, seen } = watched(['a', 'b']);
  body = make;
  const over = once(seen, 'over');
  const client = connectRaw(port, ask('HEAD'), ask('HEAD'));
  t.match(await client.replies(2), [{ status: 200, headers: { 'content-type': 'text/csv; charset=utf-8' }, text: '' }]);
  client.socket.destroy();
  await over;
  t.equal(state.taken, 2);
});

t.test("if a handler's stream fails before its first chunk, the reply is a 500", async (t) => {
  const failing = async function* () {
    throw new Error('no table');
    // biome-ignore lint/correctness/noUnreachable: what makes it a generator
    yield '';
  };
  for (const [make, cause] of [
    [failing, 'no table'],
    [watched([7]).make, 'made of strings and Uint8Arrays, not of number'],
    [() => 7, 'made of strings and Uint8Arrays, not of number'],
    [() => null, 'made of strings and Uint8Arrays, not of object'],
  ] as const) {
    body = make;
    t.match(await request('/v1/table'), { status: 500, body: { code: 'internal_error' } });
    t.match(log.join(''), cause);
  }
});

t.test(
  "if a handler's stream fails after its first chunk, the server logs the error and cuts the connection",
  async (t) => {
    for (const [chunks, failure, cause] of [
      [['id\n', '1\n'], new Error('the disk is gone'), 'the disk is gone'],
      [['id\n', 7], undefined, 'made of strings and Uint8Arrays'],
    ] as const) {
      const { make, state } = watched([...chunks], failure);
      body = make;
      log.splice(0);
      await t.rejects(request('/v1/table'), { code: 'ECONNRESET' });
      t.ok(state.isOver);
      t.match(log.join(''), '"msg":"the reply was cut off"');
      t.match(log.join(''), cause);
      t.match(log.join(''), /"operationId":"table".*"msg":"request aborted"/);
    }
  },
);

t.test(
  "a handler's stream advances only as fast as the client reads, and ends when the client disconnects",
  async (t) => {
    const { make, state, seen } = watched(Array(1000).fill(MIB));
    body = make;
    const socket = connect(port, '127.0.0.1');
    socket.write(ask());
    await once(socket, 'readable');
    // Waits until the buffers of client and server are full, so that no more chunks are taken.
    for (let taken = -1; taken < state.taken; ) {
      taken = state.taken;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    t.ok(state.taken < 50, `${state.taken} MiB`);
    socket.destroy();
    await once(seen, 'over');
    t.ok(state.taken < 50);
    t.notMatch(log.join(''), 'cut off');
    t.match(log.join(''), 'request aborted');
  },
);

t.test(
  "the server ends a handler's stream when the client disconnects, even if the stream waits or has not begun",
  async (t) => {
    const ended = new EventEmitter();
    const endless = () => {
      const never = on(new EventEmitter(), 'never');
      const end = never.return?.bind(never) as () => Promise<never>;
      never.return = () => {
        ended.emit('ended');
        return end();
      };
      return never;
    };
    const bodies = [endless, () => watched(['a']).make(), endless, endless];
    const asked = new EventEmitter();
    body = () => {
      asked.emit('asked');
      return (bodies.shift() as () => unknown)();
    };
    const alone = connect(port, '127.0.0.1');
    const isAsked = once(asked, 'asked');
    alone.write(ask());
    await isAsked;
    await new Promise((resolve) => setTimeout(resolve, 50));
    const first = once(ended, 'ended');
    alone.destroy();
    await first;
    const behind = connectRaw(port, ask(), ask(), ask());
    await once(behind.socket, 'data');
    const second = once(ended, 'ended');
    behind.socket.destroy();
    await second;
    await new Promise(setImmediate);
    t.notMatch(log.join(''), 'cut off');
    t.strictSame(
      log.map((line) => JSON.parse(line).msg),
      ['request aborted', 'request', 'request aborted'],
      'each request that began has one log line',
    );
  },
);

t.test("the server ends a handler's stream if the client closes its sending side during the reply", async (t) => {
  const ended = new EventEmitter();
  body = async function* () {
    try {
      yield 'a';
      await once(ended, 'never');
    } finally {
      ended.emit('ended');
    }
  };
  const { socket, closed } = connectRaw(port, ask());
  await once(socket, 'data');
  socket.end();
  await closed;
  t.equal(log.length, 1);
  ended.emit('never');
});

for (const [how, event, leave] of [
  ['closed its sending side', 'end', 'destroy'],
  ['reset the connection', 'close', 'resetAndDestroy'],
] as const)
  t.test(
    `if the client has ${how} before a streamed reply begins, the server ends the handler's stream at once`,
    async (t) => {
      const gone = new Promise((resolve) => {
        app.server.once('connection', (socket) => socket.once(event, resolve));
      });
      const called = new EventEmitter();
      const ended = once(called, 'ended');
      const asked = new Promise<void>((resolve) => {
        body = async () => {
          resolve();
          await gone;
          const end = async () => called.emit('ended');
          return { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true }), return: end }) };
        };
      });
      const { socket } = connectRaw(port, ask().replace('table', 'anything'));
      await asked;
      socket[leave]();
      await ended;
      t.notMatch(log.join(''), 'cut off');
    },
  );

t.test("if the server closes a handler's stream and the stream throws, the log shows the error", async (t) => {
  const end = async () => {
    throw new Error('cannot be closed');
  };
  body = () => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true }), return: end }) });
  t.equal((await request('/v1/table')).status, 200);
  t.match(log.join(''), /"message":"cannot be closed".*"msg":"the end of a reply failed"/);
});

t.test('a stopping server waits until a streamed reply is complete, and then closes its connection', async (t) => {
  const chunks = new EventEmitter();
  body = async function* () {
    yield 'first';
    await once(chunks, 'next');
    yield 'last';
  };
  const client = connectRaw(port, ask());
  await once(client.socket, 'data');
  const closed = app.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  chunks.emit('next');
  await client.ended;
  client.socket.destroy();
  await closed;
  t.match(client.received().text, 'last');
});
