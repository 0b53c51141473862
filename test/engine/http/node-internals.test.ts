import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { Busboy } from '@fastify/busboy';
import t, { type Test } from 'tap';
import {
  answerHalfClosed,
  appendToHead,
  onPartHeaders,
  onSocketEnd,
  readWhenResumed,
  stopParsing,
} from '../../../src/contract-first/engine/http/node-internals.ts';
import { connectRaw } from '../../raw-client.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** Starts a plain HTTP server of Node. */
async function start(t: Test, answer: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

t.test('stopParsing does nothing to a connection that no longer has an HTTP parser', async (t) => {
  const socket = new Socket();
  stopParsing(socket);
  t.notOk('parser' in socket);
});

t.test('after stopParsing, the server parses no further request of the connection', async (t) => {
  let requests = 0;
  const { port } = await start(t, (request, response) => {
    requests++;
    stopParsing(request.socket);
    setTimeout(() => response.end('a'), 50);
  });
  const { socket, replies } = connectRaw(port, GET.repeat(3));
  await replies(1);
  t.equal(requests, 1);
  socket.destroy();
});

t.test("appendToHead adds header lines at the end of a reply's head", async (t) => {
  const { port } = await start(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 1 });
    appendToHead(response, 'x-a: 1\r\nx-b: 2\r\n');
    response.end('a');
  });
  const { socket, replies, received } = connectRaw(port, GET);
  t.match(await replies(1), [{ status: 200, headers: { 'content-length': '1', 'x-a': '1', 'x-b': '2' }, text: 'a' }]);
  t.match(received().text, /\r\nx-a: 1\r\nx-b: 2\r\n\r\na$/);
  socket.destroy();
});

t.test(
  'onSocketEnd calls its function after the last reply of a connection, so that the function can close the connection',
  async (t) => {
    const { server, port } = await start(t, (_request, response) => {
      response.setHeader('connection', 'close');
      response.end('a');
    });
    let ended = 0;
    server.on('connection', (connection) =>
      onSocketEnd(connection, (socket) => {
        ended++;
        socket.end();
      }),
    );
    t.match(await connectRaw(port, GET).replies(), [{ headers: { connection: 'close' } }]);
    t.equal(ended, 1);
  },
);

t.test('with answerHalfClosed, a client that has closed its sending side still gets its reply', async (t) => {
  const { server, port } = await start(t, async (request, response) => {
    await once(request.socket, 'end');
    setImmediate(() => response.end('a'));
  });
  for (const count of [0, 1]) {
    const { socket, replies } = connectRaw(port, GET);
    socket.end();
    t.equal((await replies()).length, count);
    answerHalfClosed(server);
  }
});

t.test('with readWhenResumed, the server reads a paused connection again after resume()', async (t) => {
  const { server, port } = await start(t, (_request, response) => response.end('a'));
  server.on('connection', readWhenResumed);
  const { socket, replies } = connectRaw(port, GET);
  const [served] = (await once(server, 'connection')) as [Socket];
  await replies(1);
  served.pause().on('data', () => {});
  served.resume();
  socket.write(GET);
  t.equal((await replies(2)).length, 2);
  served.destroy();
  served.pause().resume();
  await once(served, 'close');
  socket.destroy();
});

t.test(
  "onPartHeaders gets the headers of a form's part as bytes, and can change them before the parser uses them",
  async (t) => {
    const busboy = new Busboy({ headers: { 'content-type': 'multipart/form-data; boundary=x' } });
    const seen: unknown[] = [];
    onPartHeaders(busboy, (headers) => {
      seen.push({ ...headers });
      headers['content-disposition'] = ['form-data; name="changed"'];
    });
    busboy.on('field', (...field) => seen.push(field.slice(0, 2)));
    busboy.end(Buffer.from('--x\r\nContent-Disposition: form-data; name="\xff"\r\n\r\n1\r\n--x--\r\n', 'latin1'));
    await once(busboy, 'finish');
    t.strictSame(seen, [{ 'content-disposition': ['form-data; name="\xff"'] }, ['changed', '1']]);
  },
);
