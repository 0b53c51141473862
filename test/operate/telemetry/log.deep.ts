import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { prepareFaultyDisk } from '../../faulty-disk.ts';
import { forceEnd, startServer, startWithLog } from '../../program.ts';
import { KEY } from '../../service.ts';
import { requestLongUrls, requestOn, stop } from './held-log.ts';

t.test("if the log's disk was full, the server writes the missing log lines once the disk has space", async (t) => {
  const file = `${t.testdir()}/log`;
  const server = await startWithLog(t, { shell: `exec >${file}` });
  const limitFiles = (bytes: string) => execFileSync('prlimit', [`--pid=${server.child.pid}`, `--fsize=${bytes}`]);
  limitFiles('20000:unlimited');
  await requestLongUrls(requestOn(t, server.port), 70);
  await server.request('/livez?when-full');
  await wait(200);
  t.ok(readFileSync(file).length <= 20000);
  limitFiles('unlimited');
  await server.request('/livez?when-free');
  t.equal(await stop(server), 0);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  t.match(lines.map((line) => JSON.parse(line)).slice(-5), [
    { msg: 'request' },
    { url: '/livez?when-full' },
    { url: '/livez?when-free' },
    { msg: 'stopping' },
    { msg: 'stopped' },
  ]);
  t.equal(lines.length, 2 + 72 + 2);
});

t.test("if nobody reads the log's pipe, the server still answers requests and stops in time", async (t) => {
  const server = await startServer(t);
  server.child.stdout?.destroy();
  for (let sent = 0; sent < 3; sent++) t.equal((await server.request('/v1/pets', { key: KEY })).status, 200);
  t.equal(await stop(server), 0);
});

/** Starts a server whose log is on a disk that stalls from now on. */
async function startOnStalledLog(t: Test) {
  const disk = prepareFaultyDisk(t);
  const log = `${t.testdirName}/log`;
  const server = await startWithLog(t, { env: disk.env, shell: `exec >${log}` });
  await server.request('/livez?before');
  while (!readFileSync(log, 'utf8').includes('before')) await wait(20);
  disk.stallLog();
  for (let sent = 0; sent < 100; sent++) t.equal((await server.request('/livez?during')).status, 200);
  return { ...server, disk, log };
}

t.test("if the log's disk stalls, requests are not delayed; if it recovers in time, no line is lost", async (t) => {
  const server = await startOnStalledLog(t);
  const stopped = stop(server);
  await wait(2000);
  t.notMatch(readFileSync(server.log, 'utf8'), 'during');
  server.disk.mend();
  t.equal(await stopped, 0);
  const text = readFileSync(server.log, 'utf8');
  t.equal(text.match(/during/g)?.length, 100);
  t.match(text.split('\n').at(-2), '"msg":"stopped"');
});

t.test("a second SIGTERM ends the server even if the log's disk stalls", async (t) => {
  const server = await startOnStalledLog(t);
  server.child.kill('SIGTERM');
  t.equal(await forceEnd(server, 'SIGTERM'), 'SIGKILL');
});
