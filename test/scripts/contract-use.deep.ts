/** `npm run contract:use` as a command, in a copy of the project, with nothing made up. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { fileOf } from '../other-contracts.ts';
import { NODE_ARGS } from '../program.ts';
import { copyProject, generate } from './project-copy.ts';

t.test('another Pet is put in the place of ours, and generated, compiled and started before', async (t) => {
  const folder = copyProject(t, readFileSync('openapi/petstore.yaml', 'utf8'));
  const args = [...NODE_ARGS, 'scripts/contract-use.ts', fileOf('petstore-expanded'), '--write', '--replace-handlers'];
  const env = { ...process.env, NODE_V8_COVERAGE: '' };
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
  t.equal(status, 0, stdout);
  t.match(stdout, 'In a copy with new handlers, it was generated, compiled and started');
  t.match(stdout, 'src/pets/ is removed');
  t.notOk(existsSync(join(folder, 'src/pets')));
  t.match(generate(folder), { status: 0 });
});

t.test('a command that is interrupted again and again leaves no copy behind', async (t) => {
  const copies = t.testdir();
  const args = [...NODE_ARGS, 'scripts/contract-use.ts', fileOf('petstore-expanded')];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, TMPDIR: copies },
    stdio: 'ignore',
  });
  const isCopied = () => readdirSync(copies).some((name) => existsSync(join(copies, name, 'handlers')));
  while (!isCopied() && child.exitCode === null) await wait(10);
  while (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    await wait(10);
  }
  t.strictSame(readdirSync(copies), []);
});
