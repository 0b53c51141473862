import { EventEmitter, once } from 'node:events';
import t from 'tap';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { connectRaw } from '../../raw-client.ts';
import { KEY, type RequestOptions } from '../../service.ts';

const MAX_BYTES = 3 * 1024 * 1024;
const bytes = { type: 'string', format: 'binary' };
const FORM = {
  type: 'object',
  required: ['title', 'photo'],
  additionalProperties: false,
  properties: {
    title: { type: 'string', maxLength: 20 },
    petId: { type: 'integer', format: 'int64', minimum: 1 },
    tags: { type: 'array', minItems: 2, items: { type: 'string', pattern: '^[a-z]*$' } },
    photo: bytes,
    more: { type: 'array', maxItems: 2, items: bytes },
    any: { type: 'array', items: bytes },
  },
};
const content = { 'application/octet-stream': { schema: bytes }, 'text/csv': {}, 'application/json': { schema: {} } };
const post = (id: string, content: Json, source: Json = {}) => ({
  post: operation(id, { requestBody: { required: true, 'x-max-bytes': MAX_BYTES, content }, ...source }),
});
const YAML = withPaths({
  '/uploads': post('upload', content),
  '/echoes': post('echo', content, { responses: { '200': { content: { 'application/octet-stream': {} } } } }),
  '/forms': post('fill', { 'multipart/form-data': { schema: FORM } }),
});

let upload: (call: Json) => Json;
const log: string[] = [];
const handlers = {
  upload: (call: Json) => upload(call),
  echo: (call: Json) => upload(call),
  fill: (call: Json) => upload(call),
};
const options = { log: { write: (line: string) => log.push(line) } };
/** Options for a server that gives slow clients only three seconds. */
const HASTY = { ...options, requestTimeout: 3000 };
const { app, port, request } = await serve(t, YAML, handlers, options);
t.beforeEach(() => log.splice(0));

const send = (body: unknown, { headers, ...others }: RequestOptions = {}, url = '/v1/uploads') =>
  request(url, {
    method: 'POST',
    body,
    ...others,
    headers: { 'content-type': 'application/octet-stream', ...headers },
  });
const head = (length: number, url = '/v1/uploads', type = 'application/octet-stream') =>
  [
    `POST ${url} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${KEY}`,
    `Content-Type: ${type}`,
    `Content-Length: ${length}`,
  ]
    .join('\r\n')
    .concat('\r\n\r\n');
const CHUNKED = { 'transfer-encoding': 'chunked' };

async function read(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}
const answerRead = async ({ body, contentType }: Json) => ({ status: 200, body: [contentType, await read(body)] });

t.test(
  'a handler gets a binary body unchanged with its media type; it gets a JSON body of the same operation parsed',
  async (t) => {
    upload = answerRead;
    const type = (type: string) => ({ headers: { 'content-type': type } });
    t.strictSame((await send('a\0\xff')).body, ['application/octet-stream', 'a\0\xc3\xbf']);
    t.strictSame((await send('id\n1', type('Text/CSV; charset=utf-8'))).body, ['text/csv', 'id\n1']);
    t.strictSame((await send('a', { headers: CHUNKED })).body, ['application/octet-stream', 'a']);
    t.strictSame((await send('')).body, ['application/octet-stream', '']);
    upload = ({ body }) => ({ status: 200, body });
    t.strictSame((await send('{"a":9223372036854775807}', type('application/json'))).body, { a: 9223372036854775807n });
  },
);

t.test(
  'the server checks the key, media type, encoding and presence of a binary body before it calls the handler',
  async (t) => {
    upload = () => t.fail('the handler was called');
    t.equal((await send('a', { key: null })).status, 401);
    t.match(await send('a', { headers: { 'content-encoding': 'gzip' } }), { status: 415 });
    t.match(await send('a', { headers: { 'content-type': 'text/html' } }), { status: 415 });
    t.match(await request('/v1/uploads', { method: 'POST' }), { status: 400, body: { message: 'body is missing' } });
    t.match(await send('a', {}, '/v1/uploads?q=1'), { status: 400, body: { message: /^query\.q/ } });
  },
);

t.test(
  'a body over its limit gets 413: immediately if its length is announced, otherwise when it reaches the limit',
  async (t) => {
    let isCalled = false;
    upload = (call) => {
      isCalled = true;
      return answerRead(call);
    };
    const [most, more] = ['a'.repeat(MAX_BYTES), 'a'.repeat(MAX_BYTES + 1)];
    t.equal((await send(most, { headers: CHUNKED })).status, 200);
    isCalled = false;
    t.match(await connectRaw(port, head(MAX_BYTES + 1)).replies(1), [{ status: 413 }]);
    t.notOk(isCalled);
    t.match(await send(more, { headers: CHUNKED }), { status: 413, headers: { connection: 'close' } });
    t.ok(isCalled);
    t.notMatch(log.join(''), /"level":50/);
  },
);

t.test(
  'if a handler does not read its whole body, the server discards the rest, and the connection stays open',
  async (t) => {
    const big = 'a'.repeat(1024 * 1024);
    for (const leave of [
      () => {},
      async (body: AsyncIterable<unknown>) => {
        for await (const _ of body) break;
      },
    ]) {
      upload = async ({ body }) => {
        await leave(body);
        return { status: 200, body: 1 };
      };
      const client = connectRaw(port, head(big.length), big, head(1), 'a');
      t.match(await client.replies(2), [{ status: 200 }, { status: 200 }]);
      client.socket.destroy();
    }
  },
);

t.test(
  'if a handler ignores a chunked body, the server reads the body to its end, and then closes the connection',
  async (t) => {
    let calls = 0;
    upload = () => ({ status: 200, body: ++calls });
    const chunked = head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked');
    const chunk = `100000\r\n${'a'.repeat(1024 * 1024)}\r\n`;
    const client = connectRaw(port, chunked);
    const errors: unknown[] = [];
    client.socket.on('error', (error) => errors.push(error));
    await client.replies(1);
    // The server forgets a reply within two seconds. Later parts of the request must not count as a new one.
    await new Promise((resolve) => setTimeout(resolve, 2100));
    for (let sent = 0; sent < 2; sent++) await new Promise((resolve) => client.socket.write(chunk, resolve));
    client.socket.write(`0\r\n\r\n${head(1)}a`);
    t.match(await client.replies(), [{ status: 200, headers: { connection: 'close' } }]);
    client.socket.end();
    await client.closed;
    t.strictSame([errors, calls], [[], 1]);

    const hasty = await serve(t, YAML, handlers, HASTY);
    const slow = connectRaw(hasty.port, chunked, chunk);
    t.match(
      await slow.replies(),
      [{ status: 200, headers: { connection: 'close' } }],
      'a chunked body that never ends',
    );
    slow.socket.destroy();
  },
);

t.test('the server reads no more of a body from the connection than the handler reads', async (t) => {
  const taken = new EventEmitter();
  upload = async ({ body }) => {
    for await (const _ of body) {
      taken.emit('first');
      await once(taken, 'goOn');
      break;
    }
    return { status: 200, body: 1 };
  };
  const received: Json[] = [];
  app.server.once('connection', (socket) => received.push(socket));
  const client = connectRaw(port, head(MAX_BYTES), 'a'.repeat(MAX_BYTES));
  await once(taken, 'first');
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.ok(received[0].bytesRead < 1024 * 1024, `${received[0].bytesRead} bytes`);
  taken.emit('goOn');
  t.match(await client.replies(1), [{ status: 200 }]);
  client.socket.destroy();
});

t.test(
  'if a body stops arriving, its handler gets an error; a slow client gets 408; a lost client is not logged as an error',
  async (t) => {
    const over = new EventEmitter();
    upload = async (call) => {
      over.emit('begun');
      try {
        return await answerRead(call);
      } catch (error) {
        over.emit('over', error);
        throw error;
      }
    };
    const [begun, gone] = [once(over, 'begun'), once(over, 'over')];
    const client = connectRaw(port, head(9), 'a');
    await begun;
    client.socket.destroy();
    t.match(await gone, [{ code: 'malformed_request' }]);
    const slow = once(over, 'over');
    const hasty = await serve(t, YAML, handlers, HASTY);
    t.match(await connectRaw(hasty.port, head(9), 'a').replies(), [{ status: 408, headers: { connection: 'close' } }]);
    await slow;
    t.notMatch(log.join(''), /"level":50/);
  },
);

t.test('a malformed chunk gets 400 immediately; later errors and replies of its handler are dropped', async (t) => {
  const over = new EventEmitter();
  const chunked = head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked');
  for (const toAnswer of [(error: Error) => Promise.reject(error), () => ({ status: 200, body: 1 })]) {
    upload = async (call) => {
      over.emit('begun');
      return answerRead(call).catch((error) => {
        setImmediate(() => over.emit('over'));
        return toAnswer(error);
      });
    };
    const [begun, ended] = [once(over, 'begun'), once(over, 'over')];
    const client = connectRaw(port, chunked, '1\r\na\r\n');
    await begun;
    client.socket.write('no length\r\n');
    t.match(await client.replies(), [{ status: 400, headers: { connection: 'close' } }]);
    await ended;
  }
  t.notMatch(log.join(''), /"level":50/);
});

t.test('a handler may send a body back while it arrives; if the body ends early, the reply is cut off', async (t) => {
  upload = ({ body }) => ({ status: 200, body });
  t.equal((await send('abc', {}, '/v1/echoes')).text, 'abc');
  const hasty = await serve(t, YAML, handlers, HASTY);
  const client = connectRaw(hasty.port, head(9, '/v1/echoes'), 'abc');
  await client.ended;
  client.socket.destroy();
  t.match(client.received().text, /^HTTP\/1\.1 200 .*\r\n3\r\nabc\r\n$/s);
});

interface Piece {
  name?: string;
  filename?: string;
  type?: string;
  text: string;
}

/** Returns the bytes of a multipart form. `end` may leave out the last boundary. */
function form(pieces: Piece[], end = '--x--\r\n'): string {
  const parts = pieces.map(({ name, filename, type, text }) => {
    const names = `${name === undefined ? '' : `; name="${name}"`}${filename === undefined ? '' : `; filename="${filename}"`}`;
    return `--x\r\nContent-Disposition: form-data${names}\r\n${type ? `Content-Type: ${type}\r\n` : ''}\r\n${text}\r\n`;
  });
  return parts.join('') + end;
}
const sendForm = (body: string, type = 'multipart/form-data; boundary=x') =>
  send(body, { headers: { 'content-type': type } }, '/v1/forms');

const title = { name: 'title', text: 'Rex' };
const photo = { name: 'photo', text: 'bytes' };

t.test('a handler gets the parts of a form in order: fields as values, files as bytes', async (t) => {
  const seen: Json[] = [];
  upload = async ({ body, contentType }) => {
    seen.push(contentType);
    for await (const { content, ...part } of body)
      seen.push({ ...part, ...(content && { content: await read(content) }) });
    return { status: 200, body: 1 };
  };
  const pieces = [
    { name: 'tags', text: 'a' },
    { ...photo, filename: '../cat.png', type: 'image/png' },
    { name: 'petId', text: '9223372036854775807' },
    { name: 'title', text: 'Zo\u00eb' },
    { name: 'more', text: 'more' },
    { name: 'tags', text: 'b', filename: 'b' },
  ];
  t.equal((await sendForm(form(pieces))).status, 200);
  t.strictSame(seen, [
    'multipart/form-data',
    { name: 'tags', value: 'a' },
    { name: 'photo', filename: 'cat.png', contentType: 'image/png', content: 'bytes' },
    { name: 'petId', value: 9223372036854775807n },
    { name: 'title', value: 'Zo\u00eb' },
    { name: 'more', filename: undefined, contentType: 'text/plain', content: 'more' },
    { name: 'tags', value: 'b' },
  ]);
});

t.test('a form that breaks the contract gets its 400 as soon as the server reads the mistake', async (t) => {
  const names: string[] = [];
  upload = async ({ body }) => {
    names.length = 0;
    for await (const { name } of body) names.push(name);
    return { status: 200, body: 1 };
  };
  const huge = { name: 'tags', text: 'a'.repeat(600 * 1024) };
  const malformed = 'body is not well-formed multipart/form-data';
  const cases: [pieces: Piece[] | string, taken: string[], message: string][] = [
    [[title, { name: 'titel', text: '' }, photo], ['title'], 'body.titel is not a known field'],
    [[{ text: '' }], [], 'body.undefined is not a known field'],
    [[title, { name: 'petId', text: '0' }], ['title'], 'body.petId must be at least 1'],
    [[{ name: 'petId', text: '1.0' }], [], 'body.petId must be a 64-bit integer'],
    [[{ name: 'tags', text: 'A' }], [], 'body.tags must match ^[a-z]*$'],
    [[title, title], ['title'], 'body.title is given more than once'],
    [[photo, photo], ['photo'], 'body.photo is given more than once'],
    [[photo], ['photo'], 'body.title is missing'],
    [[title, photo, { name: 'tags', text: 'a' }], ['title', 'photo', 'tags'], 'body.tags must have at least 2 items'],
    [Array(3).fill({ ...photo, name: 'more' }), ['more', 'more'], 'body.more must have at most 2 items'],
    [form([title], ''), [], malformed],
    [form([], '--x\r\nContent-'), [], malformed],
    ['Hello!', [], malformed],
  ];
  for (const [pieces, taken, message] of cases) {
    const { status, body } = await sendForm(typeof pieces === 'string' ? pieces : form(pieces));
    t.match({ status, body, names }, { status: 400, body: { code: 'invalid_request' }, names: taken });
    t.match((body as Json).message, message);
  }
  t.match(await sendForm(form([title]), 'multipart/form-data'), { status: 400, body: { message: malformed } });
  t.match(await sendForm(form([huge, huge])), { status: 413, body: { code: 'payload_too_large' } });
  t.notMatch(log.join(''), /"level":50/);
});

t.test(
  'however slowly a handler reads a form, the server buffers at most as many parts as the contract allows',
  async (t) => {
    const taken: string[] = [];
    upload = async ({ body }) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      for await (const { name } of body) taken.push(name);
      return { status: 200, body: 1 };
    };
    const empty = (name: string, count: number) => form(Array(count).fill({ name, text: '' }));
    const { status, body } = await sendForm(empty('more', 5000));
    t.match({ status, body }, { status: 400, body: { message: 'body.more must have at most 2 items' } });
    t.strictSame(taken.splice(0), ['more', 'more']);
    t.match((await sendForm(empty('any', 1001))).body, { message: 'body.any must have at most 1000 items' });
    t.equal(taken.splice(0).length, 1000);
    t.match((await sendForm(empty('none', 5000))).body, { message: 'body.none is not a known field' });
    t.equal((await sendForm(`--x\r\nX-Long: ${'a'.repeat(20_000)}\r\n${form([title]).slice(5)}`)).status, 400);
  },
);

t.test(
  'a handler that reads a file gets an error if the file is cut off or too large; unread files are discarded',
  async (t) => {
    const reading = async ({ body }: Json) => {
      for await (const { content } of body) if (content) await read(content);
      return { status: 200, body: 1 };
    };
    upload = reading;
    const big = { ...photo, text: 'a'.repeat(MAX_BYTES) };
    const chunked = { 'content-type': 'multipart/form-data; boundary=x', ...CHUNKED };
    t.match(await send(form([big]), { headers: chunked }, '/v1/forms'), { status: 413 });
    t.match(await sendForm(form([photo], '').slice(0, -2)), { status: 400 });
    const begun = new EventEmitter();
    const isBegun = once(begun, 'begun');
    const gone = new Promise((resolve) => {
      upload = async (call) => {
        begun.emit('begun');
        await reading(call).catch((error: Error) => resolve(error));
      };
    });
    const client = connectRaw(
      port,
      head(999, '/v1/forms', 'multipart/form-data; boundary=x'),
      form([photo], '').slice(0, -2),
    );
    await isBegun;
    client.socket.destroy();
    t.match(await gone, { code: 'malformed_request' });
    const large = { ...photo, text: 'a'.repeat(1024 * 1024) };
    upload = async ({ body }) => {
      for await (const { name } of body) if (name === 'title') break;
      return { status: 200, body: 1 };
    };
    t.equal((await sendForm(form([large, title, { ...large, name: 'more' }]))).status, 200);
    t.notMatch(log.join(''), /"level":50/);
  },
);

t.test(
  'if a handler reads the body only after its reply, it gets an error, and the client need not send the body',
  async (t) => {
    let reading: Promise<unknown> | undefined;
    upload = ({ body }) => {
      const read = async () => {
        for await (const _ of body);
      };
      reading = new Promise((resolve) => setTimeout(resolve, 50)).then(read).catch((error) => error);
      return { status: 200, body: 1 };
    };
    const client = connectRaw(port, head(5).replace('Host: x', 'Host: x\r\nExpect: 100-continue'));
    t.match(await client.replies(1), [{ status: 200, headers: { connection: 'close' } }]);
    t.notMatch(client.received().text, '100 Continue');
    client.socket.destroy();
    t.match(await reading, { code: 'malformed_request' });
  },
);
