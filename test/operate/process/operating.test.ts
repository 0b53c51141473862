import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { notifySystemd } from '../../../src/contract-first/operate/process/operating.ts';
import { buildForcedEnd } from '../../../src/contract-first/operate/process/stopping.ts';
import { startServer } from '../../program.ts';
import { send } from '../../service.ts';

t.test('systemd gets watchdog messages as long as the event loop runs', async (t) => {
  const folder = t.testdir({ 'systemd-notify': '#!/bin/sh\necho "$@" >> "$(dirname "$0")/notified"\n' });
  chmodSync(`${folder}/systemd-notify`, 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  t.equal(notifySystemd({}), undefined);
  const timer = notifySystemd({ WATCHDOG_USEC: '600000' });
  while (!existsSync(`${folder}/notified`)) await wait(20);
  clearInterval(timer);
  t.match(readFileSync(`${folder}/notified`, 'utf8'), /^WATCHDOG=1$/m);
});

t.test('a server whose database folder disappears keeps running, and recovers when the folder is back', async (t) => {
  const folder = `${t.testdir()}/data`;
  mkdirSync(folder);
  const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, ADMIN_PORT: '0' };
  const { output, request, written } = await startServer(t, { env, isCovered: true });
  const [, port] = await written('stdout', /"admin":"http:\/\/127\.0\.0\.1:(\d+)"/);
  const ask = async (path: string) => (await send(Number(port), path, { key: null })).status;
  const create = async () =>
    (await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } })).status;
  t.equal(await create(), 201);
  while ((await ask('/readyz')) !== 200) await wait(50);

  renameSync(folder, `${folder}-elsewhere`);
  for (const path of ['/readyz', '/readyz', '/metrics', '/livez'])
    t.equal(await ask(path), path === '/readyz' ? 503 : 200, path);
  t.equal(await create(), 503);
  renameSync(`${folder}-elsewhere`, folder);
  while ((await ask('/readyz')) !== 200) await wait(50);
  for (let pets = 2; pets <= 5; pets++) t.equal(await create(), 201);
  t.equal(((await request('/v1/pets')).body as object[]).length, 5);
  t.notMatch(output.stdout, /"level":60/);
});

t.test('a server that does not stop in time is killed with SIGKILL, and the log reports the kill', async (t) => {
  const child = spawn('sleep', ['600']);
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => lines.push(line) });
  await buildForcedEnd(logger, child.pid as number)();
  t.strictSame(await once(child, 'exit'), [null, 'SIGKILL']);
  t.match(lines, [/"msg":"killed, because it had not stopped yet"/]);
});
