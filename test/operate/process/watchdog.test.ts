import type { Worker } from 'node:cluster';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { tellSystemd, Watchdog } from '../../../src/operate/process/watchdog.ts';

t.test('a worker that says nothing for too long is killed, and the log says so', async (t) => {
  const lines: string[] = [];
  const killed: string[] = [];
  const toWorker = (pid: number) => ({ process: { pid, kill: (signal: string) => killed.push(`${pid} ${signal}`) } });
  const [silent, lively, gone] = [1, 2, 3].map((pid) => toWorker(pid) as unknown as Worker) as [Worker, Worker, Worker];
  const watchdog = new Watchdog(pino({ level: 'error' }, { write: (line) => lines.push(line) }), 400, 20);
  for (const worker of [silent, lively, gone]) watchdog.hear(worker);
  watchdog.forget(gone);
  const beating = setInterval(() => watchdog.hear(lively), 20);
  t.teardown(() => clearInterval(beating));
  // The watchdog itself stands still: it cannot have heard anybody.
  const end = performance.now() + 500;
  while (performance.now() < end);
  await wait(100);
  t.strictSame(killed, []);
  while (killed.length === 0) await wait(20);
  await wait(100);
  t.strictSame(killed, ['1 SIGKILL']);
  t.match(JSON.parse(lines.join('')), { worker: 1, msg: 'a worker stands still, and is killed' });
  t.ok(JSON.parse(lines.join('')).silent >= 400);
});

t.test('systemd is told that the event loop turns, where it asks for that', async (t) => {
  const folder = t.testdir({ 'systemd-notify': '#!/bin/sh\necho "$@" >> "$(dirname "$0")/told"\n' });
  chmodSync(`${folder}/systemd-notify`, 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  t.equal(tellSystemd({}), undefined);
  const timer = tellSystemd({ WATCHDOG_USEC: '600000' });
  while (!existsSync(`${folder}/told`)) await wait(20);
  clearInterval(timer);
  t.match(readFileSync(`${folder}/told`, 'utf8'), /^WATCHDOG=1$/m);
});
