import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { loadOpenTelemetry } from '../../../src/contract-first/operate/telemetry/open-telemetry.ts';
import { buildTraces } from '../../../src/contract-first/operate/telemetry/traces.ts';
import { loadConfig } from '../../config.ts';
import { connectRaw, sendRaw } from '../../raw-client.ts';
import { KEY, type Service, startService } from '../../service.ts';

const HEAD = [
  'POST /v1/pets HTTP/1.1',
  'Host: pets',
  'X-Forwarded-For: 192.0.2.7',
  'X-Forwarded-Proto: https',
  'Content-Type: application/json',
  'Content-Length: 29',
];
const BODY = '{"name":"Rex","categoryId":7}';

const toRequests = (lines: string[]) =>
  [KEY, 'wrong'].map((key) => [...lines, `Authorization: Bearer ${key}`, '', ''].join('\r\n'));
const WITHOUT_BODY = toRequests(HEAD);
const REQUESTS = [
  ...WITHOUT_BODY.map((head) => head + BODY),
  HEAD.concat('', BODY).join('\r\n').replace('/v1', '/%zz'),
];

/**
 * A script that sends each request to each port and resets the connection, before the server in this process accepts
 * it.
 */
const GO_AWAY = `
  const [requests, ...ports] = process.argv.slice(1).map((text) => JSON.parse(text));
  for (const port of ports) for (const request of requests) {
    const socket = require('node:net').connect(port, '127.0.0.1', () =>
      socket.write(request, () => socket.resetAndDestroy()));
  }`;

interface Settings {
  trustProxy: string[];
  level: string;
  isTraced: boolean;
  rate: string;
}

/**
 * The settings that make the server read a property of the connection: all of them together, and all but one, because
 * the first reader may hide a mistake of a later one.
 */
const ALL: Settings = { trustProxy: ['127.0.0.1'], level: 'info', isTraced: true, rate: '1000/s' };
const LESS: Partial<Settings>[] = [{}, { trustProxy: [] }, { level: 'warn' }, { isTraced: false }, { rate: 'none' }];
const SETTINGS = [...LESS, { level: 'warn', rate: 'none' }].map((less) => ({ ...ALL, ...less }));

/** Starts a service that fails the test if it logs an error. */
function start(t: Test, { trustProxy, level, isTraced, rate }: Settings): Promise<Service> {
  const log = { write: (line: string) => t.notMatch(line, /"level":[56]0/) };
  const logger = pino({ level }, log);
  const silent = pino({ level: 'silent' });
  const parts = {
    openTelemetry: loadOpenTelemetry(new URL(import.meta.url)),
    name: 'pets',
    version: '1',
    system: 'sqlite',
    ratio: undefined,
    trusted: ['127.0.0.1'],
    logger: silent,
  };
  const addTraces = isTraced ? buildTraces(parts) : undefined;
  return startService(t, {
    trustProxy,
    logger,
    lines: log,
    addTraces,
    limits: loadConfig({ UNAUTHORIZED_RATE: rate }),
  });
}

t.test('the server survives a client that disconnects at any moment, and logs no error', async (t) => {
  const services = await Promise.all(SETTINGS.map((settings) => start(t, settings)));
  const ports = services.map(({ port }) => String(port));
  execFileSync(process.execPath, ['-e', GO_AWAY, JSON.stringify(REQUESTS), ...ports]);
  for (const { app, port } of services) {
    for (const request of [...REQUESTS, ...WITHOUT_BODY]) {
      const { socket } = connectRaw(port, request);
      const [served] = (await once(app.server, 'connection')) as [Socket];
      await once(served, 'data');
      socket.resetAndDestroy();
    }
  }
  for (const { app, request } of services) {
    while ((await promisify(app.server.getConnections.bind(app.server))()) > 0) await wait(5);
    t.equal((await request('/v1/pets')).status, 200);
  }
});

t.test(
  'even if a URL is invalid or the method is CONNECT, the log shows the client address that the proxy sent',
  async (t) => {
    const lines: Record<string, unknown>[] = [];
    const log = { write: (line: string) => lines.push(JSON.parse(line)) };
    const { port } = await startService(t, { log, trustProxy: ['127.0.0.1'] });
    for (const line of ['GET /%zz', 'CONNECT pets:1', 'GET /v1/pets'])
      await sendRaw(port, `${line} HTTP/1.1\r\nHost: pets\r\nX-Forwarded-For: 192.0.2.7\r\nConnection: close\r\n\r\n`);
    while (lines.length < 3) await wait(5);
    t.strictSame(
      lines.map(({ status, ip }) => [status, ip]),
      [400, 405, 401].map((status) => [status, '192.0.2.7']),
    );
  },
);
