import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { NODE_ARGS } from '../program.ts';

t.test('npm run walk names the functions of a create, a get and a list, by their files', async (t) => {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const env = { ...process.env, NODE_V8_COVERAGE: '' };
  const { status, stdout } = spawnSync(process.execPath, [...NODE_ARGS, 'scripts/walk.ts'], {
    cwd,
    env,
    encoding: 'utf8',
  });
  t.equal(status, 0);
  for (const [name, handler] of [
    ['create', 'createPet'],
    ['get', 'getPet'],
    ['list', 'listPets'],
  ]) {
    t.match(
      stdout,
      new RegExp(`^${name}: \\d\\d+ functions in \\d\\d files\\n {2}handlers/${handler}\\.ts: .+\\n`, 'm'),
    );
  }
});
