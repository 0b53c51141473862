import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { startServer } from '../../program.ts';

const WORKERS = { one: '1', several: '2' };

for (const [many, count] of Object.entries(WORKERS)) {
  const start = async (t: Parameters<typeof startServer>[0], env = {}) => {
    const server = await startServer(t, {
      env: { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: count, ...env },
      isCovered: true,
    });
    await server.written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${count}}`));
    return server;
  };

  t.test(`${many}: SIGUSR1 opens no debugger in production`, async (t) => {
    const { child, exit, output } = await start(t, { NODE_ENV: 'production' });
    const { pid } = child;
    const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    t.equal(workers.length, count === '1' ? 0 : 2);
    for (const each of [pid as number, ...workers]) process.kill(each, 'SIGUSR1');
    await wait(500);
    child.kill('SIGTERM');
    t.equal(await exit, 0);
    t.notMatch(output.stderr, /Debugger listening/);
  });

  for (const signal of ['SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const) {
    t.test(`${many}: ${signal} is a graceful stop`, async (t) => {
      const { child, exit, output } = await start(t);
      child.kill(signal);
      t.equal(await exit, 0);
      t.equal(output.stdout.match(/"msg":"stopped"/g)?.length, Number(count));
    });
  }
}
