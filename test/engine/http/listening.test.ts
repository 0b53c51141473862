import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Server } from 'node:net';
import type { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { checkAddress } from '../../../src/contract-first/engine/http/connections/listening.ts';
import { startServer } from '../../program.ts';
import { KEY } from '../../service.ts';

/** Sends these bytes, and returns everything that the server sends until it closes the connection. */
async function say(to: NetConnectOpts, bytes: string): Promise<string> {
  const socket = connect(to);
  socket.end(bytes);
  return Buffer.concat(await socket.toArray()).toString();
}

const livez = 'GET /livez HTTP/1.1\r\nHost: pets\r\nConnection: close\r\n\r\n';

t.test('HOST may be a host name, and REQUEST_TIMEOUT may be any number of milliseconds', async (t) => {
  const { request } = await startServer(t, { env: { HOST: 'localhost', REQUEST_TIMEOUT: '30001' } });
  t.equal((await request('/livez')).status, 200);
});

/** Starts the server and passes it a listening socket, as systemd does. `output` collects its standard output. */
async function startOn(t: Test, passed: Server, settings: Record<string, string>) {
  const { fd } = (passed as unknown as { _handle: { fd: number } })._handle;
  const common = { LISTEN_FDS: '1', API_KEYS: KEY, DRAIN_DELAY: '0' };
  const env = { ...process.env, ...common, PORT: '1', DATABASE_URL: 'sqlite::memory:', ...settings };
  const stdio = ['ignore', 'pipe', 'inherit', fd] as const;
  const program = [process.execPath, `${process.env.TEST_PROGRAM}/src/main.js`];
  const child = spawn('sh', ['-c', 'LISTEN_PID=$$ exec "$@"', 'sh', ...program], { env, stdio: [...stdio] });
  t.teardown(() => child.kill('SIGKILL'));
  const output = (child.stdout as Readable).toArray();
  // The child process has its own file descriptor of the socket.
  passed.close();
  return { child, output };
}

t.test('a server that inherits a listening socket uses it instead of HOST and PORT', async (t) => {
  const passed = createServer();
  await once(passed.listen(0, '127.0.0.1'), 'listening');
  const { port } = passed.address() as AddressInfo;
  const { child } = await startOn(t, passed, {});
  t.match(await say({ host: '127.0.0.1', port }, livez), /^HTTP\/1\.1 200 /);
  child.kill('SIGTERM');
  t.strictSame(await once(child, 'exit'), [0, null]);
});

t.test("the server can listen on a Unix socket, where a trusted proxy reports the client's address", async (t) => {
  for (const [TRUST_PROXY, expected] of [
    ['unix', '192.0.2.7'],
    ['127.0.0.1', undefined],
  ] as const) {
    const passed = createServer();
    // A name in Linux's abstract namespace, which needs no file.
    const path = `\0pets ${process.pid} ${TRUST_PROXY}`;
    await once(passed.listen(path), 'listening');
    const { child, output } = await startOn(t, passed, { TRUST_PROXY });
    const request = livez.replace('\r\n\r\n', '\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n');
    t.match(await say({ path }, request), /^HTTP\/1\.1 200 /);
    child.kill('SIGTERM');
    t.strictSame(await once(child, 'exit'), [0, null]);
    const lines = Buffer.concat(await output)
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.equal(lines.find(({ msg }) => msg === 'request').ip, expected);
  }
});

t.test(
  'if the port is taken, the start fails before it creates a database; the start does not check an inherited socket',
  async (t) => {
    const taken = createServer();
    await once(taken.listen(0, '127.0.0.1'), 'listening');
    t.teardown(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    await t.rejects(checkAddress({ host: '127.0.0.1', port, socket: undefined }), { code: 'EADDRINUSE' });
    await t.resolves(checkAddress({ host: '127.0.0.1', port, socket: 3 }));
  },
);
