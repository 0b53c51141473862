import { spawn } from 'node:child_process';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import t from 'tap';
import { startServer } from '../../program.ts';
import { KEY, startService } from '../../service.ts';

/** A name with these addresses. Any machine has 127.0.0.1 and 127.0.0.2, not every one has ::1. */
function resolveTo(...addresses: string[]) {
  const entries: LookupAddress[] = addresses.map((address) => ({ address, family: 4 }));
  return (async () => entries) as unknown as typeof import('node:dns/promises').lookup;
}

/** What comes back for these bytes until the connection ends. */
async function say(host: string, port: number, bytes: string): Promise<string> {
  const socket = connect({ host, port });
  socket.end(bytes);
  return Buffer.concat(await socket.toArray()).toString();
}

const livez = 'GET /livez HTTP/1.1\r\nHost: pets\r\nConnection: close\r\n\r\n';

t.test('a name with several addresses is served at each of them, by the same server', async (t) => {
  const { port } = await startService(t, { resolve: resolveTo('127.0.0.1', '127.0.0.2') });
  for (const host of ['127.0.0.1', '127.0.0.2']) {
    t.match(await say(host, port, livez), /^HTTP\/1\.1 200 /, host);
    t.match(await say(host, port, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400 [\s\S]*"code":"malformed_request"/, host);
    t.match(await say(host, port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'), /^HTTP\/1\.1 405 /, host);
  }
});

t.test('a stop waits for the requests of every address, and then nobody listens there', async (t) => {
  const { app, port } = await startService(t, { resolve: resolveTo('127.0.0.1', '127.0.0.2') });
  const socket = connect({ host: '127.0.0.2', port });
  socket.write(livez.slice(0, -2));
  await once(app.server, 'connection');
  const closing = app.close();
  socket.write('\r\n');
  t.match(Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1\.1 200 /);
  await closing;
  await t.rejects(say('127.0.0.2', port, livez), { code: 'ECONNREFUSED' });
});

t.test('an address that the machine does not have is left out, one that is in use is reported', async (t) => {
  const { port } = await startService(t, { resolve: resolveTo('127.0.0.1', '192.0.2.1') });
  t.match(await say('127.0.0.1', port, livez), /^HTTP\/1\.1 200 /);

  const other = createServer().listen(0, '127.0.0.2');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const address = { host: 'pets', port: (other.address() as AddressInfo).port };
  const resolve = resolveTo('127.0.0.1', '127.0.0.2');
  await t.rejects(startService(t, { address, resolve }), { code: 'EADDRINUSE' });
});

t.test('HOST may be a name, and REQUEST_TIMEOUT any number', async (t) => {
  const { request } = await startServer(t, { env: { HOST: 'localhost', REQUEST_TIMEOUT: '30001' } });
  t.equal((await request('/livez')).status, 200);
});

t.test('a socket that listens already is taken in place of a host and a port', async (t) => {
  const passed = createServer();
  await once(passed.listen(0, '127.0.0.1'), 'listening');
  const { port } = passed.address() as AddressInfo;
  const { fd } = (passed as unknown as { _handle: { fd: number } })._handle;
  const settings = { LISTEN_PID: String(process.pid), LISTEN_FDS: '1', API_KEYS: KEY, DRAIN_DELAY: '0' };
  const env = { ...process.env, ...settings, PORT: '1', DATABASE_URL: 'sqlite::memory:' };
  const stdio = ['ignore', 'pipe', 'inherit', fd] as const;
  const child = spawn(process.execPath, [`${process.env.TEST_PROGRAM}/src/main.js`], { env, stdio: [...stdio] });
  // The child has its own descriptor of it.
  passed.close();
  t.match(await say('127.0.0.1', port, livez), /^HTTP\/1\.1 200 /);
  child.kill('SIGTERM');
  t.strictSame(await once(child, 'exit'), [0, null]);
});
