import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { NODE_ARGS } from '../program.ts';

const MODULE = new URL('../postgres.ts', import.meta.url);
const PROGRAM = `
  const { startPostgres } = await import('${MODULE}');
  const { folder, signal } = await startPostgres({ teardown() {} });
  await signal('SIGSTOP');
  console.log(folder);`;

t.test("if a test is killed, neither its PostgreSQL server nor the server's folder is left behind", async (t) => {
  const child = spawn(process.execPath, [...NODE_ARGS, '--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  const folder = String(line).trim();
  t.ok(existsSync(folder));
  child.kill('SIGKILL');
  // The watcher removes the folder as its last step, after PostgreSQL has ended.
  for (const deadline = Date.now() + 20_000; existsSync(folder) && Date.now() < deadline; ) await wait(50);
  t.notOk(existsSync(folder));
});
