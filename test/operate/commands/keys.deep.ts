import { relative } from 'node:path';
import t from 'tap';
import { openUrl } from '../../database.ts';
import { startProgram } from '../../program.ts';
import { MADE } from './made-keys.ts';

t.test('`keys create` before the first start creates the database and prints its location', async (t) => {
  const DATABASE_URL = `sqlite:${relative('.', t.testdir())}/data/pets.db`;
  const reported = ['There was no database yet. A new one was made: /.*/data/pets.db\n', ''];
  for (const words of reported) {
    const { exit, output } = startProgram(t, 'src/main.ts', { args: ['keys', 'create', 'Ada'], env: { DATABASE_URL } });
    t.equal(await exit, 0);
    t.match(output.stdout, MADE);
    t.match(output.stderr, new RegExp(`^${words}$`));
  }
});

t.test('if several `keys create` commands start together without a database, each creates its key', async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/data/pets.db` };
  const programs = ['Ada', 'Ben', 'Cleo'].map((name) =>
    startProgram(t, 'src/main.ts', { args: ['keys', 'create', name], env }),
  );
  for (const { exit, output } of programs) t.equal(await exit, 0, output.stderr);
  const store = openUrl(env.DATABASE_URL);
  t.teardown(() => store.close());
  t.strictSame((await store.listKeys()).map(({ name }) => name).sort(), ['Ada', 'Ben', 'Cleo']);
});
