import { once } from 'node:events';
import { connect } from 'node:net';
import client from 'prom-client';
import t from 'tap';
import { listenForOperators } from '../../../src/contract-first/operate/telemetry/operators.ts';

t.test('the port of operators is asked by addresses, or by a name of its own', async (t) => {
  const metrics = new client.Registry();
  const fail = () => Promise.reject(new Error('the disk does not answer'));
  new client.Gauge({ name: 'free', help: 'What is free.', registers: [metrics], collect: fail });
  const parts = { isReady: async () => true, metrics };
  const { port } = new URL(await listenForOperators(parts, '127.0.0.1', 0));

  async function ask(path: string, host?: string): Promise<string> {
    const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
    let reply = '';
    socket.on('data', (text) => {
      reply += text;
    });
    socket.write(host === undefined ? `GET ${path} HTTP/1.0\r\n\r\n` : `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await once(socket, 'close');
    return reply.slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3);
  }

  for (const host of [undefined, '127.0.0.1', '[::1]:9000', 'LOCALHOST'])
    t.equal(await ask('/livez', host), '200', String(host));
  t.equal(await ask('/livez', 'petstore.example'), '421');
  t.equal(await ask('/metrics', 'localhost'), '500');
});
