import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { connectRaw } from '../../raw-client.ts';
import { startService } from '../../service.ts';

const get = (version: string, ...headers: string[]) =>
  ['GET /livez HTTP/'.concat(version), 'Host: pets', ...headers, '', ''].join('\r\n');
const UPGRADE = get('1.1', 'Connection: upgrade', 'Upgrade: websocket');
const CONNECT = 'CONNECT pets:443 HTTP/1.1\r\nHost: pets\r\n\r\n';

/** Requests after which Node or the engine detaches its parser from the connection. */
const ENDS = [
  get('2.0', 'Connection: keep-alive') + UPGRADE,
  `${get('1.0', 'Connection: keep-alive', 'Transfer-Encoding: chunked')}0\r\n\r\n${UPGRADE}`,
  `${get('1.1', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n${UPGRADE}`,
  get('1.1', 'Connection: close') + UPGRADE,
  get('1.1') + UPGRADE + UPGRADE,
  get('1.1') + CONNECT,
  CONNECT + UPGRADE,
  `${get('1.1')}nonsense\r\n\r\n`,
  get('1.1').repeat(70) + UPGRADE,
];

t.test(
  'every connection has an error listener until it is closed, so that a reset cannot end the process',
  async (t) => {
    const { app, port } = await startService(t);
    let sent = '';
    let closed = 0;
    app.server.on('connection', (socket: Socket) => {
      socket.on('removeListener', (event) => {
        if (event === 'error' && socket.listenerCount('error') === 0) t.fail(sent);
      });
      socket.on('close', () => {
        t.ok(socket.listenerCount('error') > 0, sent);
        closed++;
      });
    });
    for (const bytes of ENDS) {
      sent = bytes;
      const { socket, replies } = connectRaw(port, bytes);
      socket.end();
      await replies();
      socket.destroy();
    }
    while (closed < ENDS.length) await wait(5);
  },
);

t.test('a client that sends data and then resets its connection does not end the server process', async (t) => {
  const { port, request } = await startService(t);
  for (let count = 0; count < 50 * ENDS.length; count++) {
    const { socket, closed } = connectRaw(port);
    socket.once('connect', async () => {
      socket.write(ENDS[count % ENDS.length] as string);
      if (count % 3 === 0) await wait(1);
      socket.resetAndDestroy();
    });
    await closed;
  }
  t.equal((await request('/livez')).status, 200);
});
