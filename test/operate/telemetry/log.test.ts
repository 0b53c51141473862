import t from 'tap';
import { toShortLines } from '../../../src/contract-first/operate/telemetry/short-lines.ts';
import { startServer, startWithLog } from '../../program.ts';
import { requestLongUrls, requestOn, stop } from './held-log.ts';

t.test("if the log's disk is full, the server still answers requests and stops in time", async (t) => {
  const server = await startWithLog(t, { shell: 'exec >/dev/full', isCovered: true });
  t.equal((await server.request('/v1/pets', { key: server.key })).status, 200);
  t.equal((await server.request('/livez')).status, 200);
  t.equal(await stop(server), 0);
});

t.test('in a terminal, or with LOG_FORMAT=short, the server logs each request as a short readable line', async (t) => {
  const terminal = 'set -- script -qec "$*" /dev/null';
  for (const [shell, LOG_FORMAT] of [
    [terminal, 'auto'],
    [':', 'short'],
  ] as const) {
    const server = await startServer(t, { shell, isCovered: shell === ':', env: { LOG_FORMAT, LOG_LEVEL: 'debug' } });
    await server.request('/v1/pets/x?a=%0A');
    t.match(server.output.stdout, /^\d\d:\d\d:\d\d listening \{"origin":"http:[^"]+"\}\r?$/m);
    await server.written('stdout', /^\d\d:\d\d:\d\d GET \/v1\/pets\/x\?a=%0A 400 [\d.]+ ms\r?$/m);
    if (shell === ':') t.equal(await stop(server), 0);
  }
});

t.test('a short log line shows the level of a warning and the cause of an error, without control characters', (t) => {
  const toTime = (line: object) => toShortLines(`${JSON.stringify({ time: 0, pid: 1, hostname: 'a', ...line })}\n`);
  t.match(toTime({ level: 40, msg: 'slow \u001b[2J' }), /^\d\d:\d\d:\d\d WARN slow \\u\{1b\}\[2J\n$/);
  const err = { message: 'b', stack: 'Error: b\n    at c' };
  t.match(toTime({ level: 50, err, msg: 'failed' }), /ERROR failed Error: b\n {4}at c\n$/);
  const aborted = { level: 30, reqId: 'r', method: 'GET', url: '/a', ms: 1.26, msg: 'request aborted' };
  t.match(toTime(aborted), /^\S+ GET \/a request aborted 1\.3 ms\n$/);
  t.match(
    toTime({ level: 30, method: 'GET', url: '/a', status: 500, ms: 2, cause: 'Error: d' }),
    / 500 2 ms Error: d\n$/,
  );
  t.end();
});

t.test('if nobody reads the log, requests are answered; the next reader sees the number of lost lines', async (t) => {
  const server = await startServer(t, { isCovered: true });
  const request = requestOn(t, server.port);
  server.child.stdout?.pause();
  await requestLongUrls(request, 4000);
  t.equal((await request('/v1/pets')).status, 200);

  server.child.stdout?.resume();
  const [, digits] = await server.written('stdout', /"count":(\d+),"msg":"lines of the log were lost"/);
  const lost = Number(digits);
  t.ok(lost > 200 && lost < 400, `${lost} lines were lost`);
  await request('/livez?the-last');
  await server.written('stdout', /the-last.*\n/);
  const lines = server.output.stdout.trimEnd().split('\n');
  // All other lines are complete: one each for the created database and the start, one for each logged request, and one
  // for the lost lines.
  t.equal(lines.map((line) => JSON.parse(line)).length, 2 + 4002 - lost + 1);

  server.child.stdout?.pause();
  await requestLongUrls(request, 100);
  t.equal(await stop(server), 0);
});
