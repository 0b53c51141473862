import { relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { openUrl } from '../../database.ts';
import { startProgram, startServer } from '../../program.ts';
import { MADE, toMade } from './made-keys.ts';

t.test('beside a running server: a new key is accepted, and refused when it is revoked', async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/data/pets.db` };
  const { request } = await startServer(t, { env });

  /** The status that a request has in the end: the server reads the keys again within a second. */
  async function statusOf(key: string, expected: number): Promise<number> {
    let { status } = await request('/v1/pets', { key });
    for (let count = 0; status !== expected && count < 600; count++) {
      await wait(50);
      status = (await request('/v1/pets', { key })).status;
    }
    return status;
  }

  const making = startProgram(t, 'src/main.ts', { args: ['keys', 'create', 'Ada'], env, isCovered: true });
  t.equal(await making.exit, 0);
  const { id, key } = toMade(making.output.stdout);
  t.equal(await statusOf(key, 200), 200);
  const revoking = startProgram(t, 'src/main.ts', { args: ['keys', 'revoke', id], env });
  t.equal(await revoking.exit, 0);
  t.equal(await statusOf(key, 401), 401);
});

t.test('a key that is made before the first start makes the database, and says where', async (t) => {
  const DATABASE_URL = `sqlite:${relative('.', t.testdir())}/data/pets.db`;
  const told = ['There was no database yet. A new one was made: /.*/data/pets.db\n', ''];
  for (const words of told) {
    const { exit, output } = startProgram(t, 'src/main.ts', { args: ['keys', 'create', 'Ada'], env: { DATABASE_URL } });
    t.equal(await exit, 0);
    t.match(output.stdout, MADE);
    t.match(output.stderr, new RegExp(`^${words}$`));
  }
});

t.test('several that start at once on a database that is not there yet all succeed', async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/data/pets.db` };
  const programs = ['Ada', 'Ben', 'Cleo'].map((name) =>
    startProgram(t, 'src/main.ts', { args: ['keys', 'create', name], env }),
  );
  for (const { exit, output } of programs) t.equal(await exit, 0, output.stderr);
  const store = openUrl(env.DATABASE_URL);
  t.teardown(() => store.close());
  t.strictSame((await store.listKeys()).map(({ name }) => name).sort(), ['Ada', 'Ben', 'Cleo']);
});
