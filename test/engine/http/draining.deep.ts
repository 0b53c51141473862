import { EventEmitter, once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { Sqlite } from '../../../src/contract-first/store/sqlite/sqlite.ts';
import { forceEnd, startServer } from '../../program.ts';
import { KEY } from '../../service.ts';
import { replyTo, startPost, stop } from './in-flight.ts';

/** The number of times that the server is stopped under load. */
const ROUNDS = Number(process.env.ROUNDS ?? 1);

/**
 * Starts clients that each create one pet after the other until the server accepts no more connections. Half of the
 * clients reuse their connection as long as the server keeps it open; the others open a new one for each request.
 */
function load(port: number, clients: number) {
  const answers = new EventEmitter();
  const answered: string[] = [];

  async function send(_: unknown, index: number) {
    const agent = new Agent({ keepAlive: index % 2 === 0, maxSockets: 1 });
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    for (;;) {
      const request = httpRequest({ host: '127.0.0.1', port, path: '/v1/pets', method: 'POST', agent, headers });
      request.end('{"name":"Rex","categoryId":7}');
      try {
        const { status, body } = await replyTo(request);
        if (status !== 201) throw new Error(`${status}: ${body}`);
        if (answered.push(body) === 10 * clients) answers.emit('busy');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return;
        throw error;
      }
    }
  }

  const ended = Promise.all(Array.from({ length: clients }, send));
  return { busy: once(answers, 'busy'), answered: ended.then(() => answered) };
}

t.test('a second signal to stop ends the server immediately, even if requests are running', async (t) => {
  const server = await startServer(t, { env: { STOP_TIMEOUT: '600000' } });
  const request = await startPost(server.port, '{}');
  server.child.kill('SIGINT');
  await server.written('stdout', /"stopping"/);
  const [code] = await Promise.all([forceEnd(server, 'SIGINT'), t.rejects(replyTo(request))]);
  t.equal(code, 'SIGKILL');
});

t.test('Ctrl-C on `npm start` counts as one signal, although the terminal and npm each send one', async (t) => {
  // The clock of the server stands still: the two signals count as simultaneous, even if it handles the second one
  // late.
  const shell = 'export NODE_OPTIONS="$NODE_OPTIONS --import=data:text/javascript,Date.now=()=>0"';
  const server = await startServer(t, { shell, isCovered: true });
  server.child.kill('SIGINT');
  server.child.kill('SIGTERM');
  await server.written('stdout', /"stopping"/);
  server.child.kill('SIGINT');
  t.equal(await server.exit, 0);
});

t.test(
  'a client that connects just before SIGTERM still gets a reply if it sends its request a little later',
  async (t) => {
    // Repeats the test if the client got no answer because the machine paused for longer than a stopping server waits.
    for (let isOver = false; !isOver; ) {
      const server = await startServer(t);
      const began = performance.now();
      const socket = connect(server.port, '127.0.0.1');
      await once(socket, 'connect');
      t.equal((await server.request('/livez')).status, 200);
      server.child.kill('SIGTERM');
      await server.written('stdout', /"stopping"/);
      await wait(600);
      socket.write(`GET /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
      const wasQuick = performance.now() - began < 1000;
      const answer = await text(socket).catch(() => '');
      t.equal(await server.exit, 0);
      isOver = wasQuick || answer !== '';
      if (isOver) t.match(answer, /^HTTP\/1\.1 200 /);
    }
  },
);

t.test(
  'if a server under load is stopped repeatedly, no request is dropped, and every acknowledged pet is stored',
  async (t) => {
    const folder = t.testdir();
    const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, DRAIN_DELAY: '1500' };
    const answered: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServer(t, { env });
      const clients = load(server.port, 20);
      await clients.busy;
      t.equal(await stop(server), 0);
      answered.push(...(await clients.answered));
      t.strictSame(readdirSync(folder), ['pets.db'], 'the write-ahead log is gone');
    }
    const db = new Sqlite(`${folder}/pets.db`, { readonly: true });
    t.teardown(() => db.close());
    t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    const stored = db
      .prepare("SELECT json_object('id', id, 'name', name, 'categoryId', category_id) FROM pets")
      .pluck();
    t.strictSame(
      stored.all(),
      answered.sort((a, b) => JSON.parse(a).id - JSON.parse(b).id),
    );
  },
);
