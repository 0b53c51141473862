import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { openUrl } from '../../database.ts';
import { prepareFaultyDisk } from '../../faulty-disk.ts';
import { type ProgramOptions, startProgram, startServer } from '../../program.ts';

async function run(t: Test, args: string[], options: ProgramOptions = {}) {
  const program = startProgram(t, 'src/main.ts', { args: ['move', ...args], isCovered: true, ...options });
  return { code: await program.exit, ...program.output };
}

t.test('after a `move` next to a running server, clients continue with their keys on the new database', async (t) => {
  const folder = t.testdir();
  const [from, to] = [`${folder}/a.db`, `${folder}/b.db`];
  const source = await startServer(t, { env: { DATABASE_URL: `sqlite:${from}` } });
  const store = openUrl(`sqlite:${from}`);
  const key = makeKey('petstore');
  await store.createKey(toStoredKey(key, 'Ada'));
  await store.close();
  const rex = { method: 'POST', body: { name: 'Rex 🐕', categoryId: 7 }, headers: { 'idempotency-key': 'one' } };
  const made = await source.request('/v1/pets', rex);
  t.strictSame(await run(t, [from, `sqlite:${to}`]), {
    code: 0,
    stdout: `Moved 1 pets, 1 keys from SQLite, ${from} to SQLite, ${to}.\n`,
    stderr: '',
  });
  const target = await startServer(t, { env: { DATABASE_URL: `sqlite:${to}` } });
  t.equal((await target.request('/v1/pets', { key })).text, `[${made.text}]`);
  t.equal((await target.request('/v1/pets', rex)).headers['idempotency-replayed'], 'true');
  t.match((await target.request('/v1/pets', { ...rex, headers: {} })).body, { id: 2 });
});

t.test('a `move` that fails prints the reason, and copies nothing', async (t) => {
  const folder = t.testdir();
  const [from, to] = [`${folder}/a.db`, `${folder}/b.db`];
  for (const args of [[], [from], [from, to, to], ['--all'], ['--all', to]])
    t.match(await run(t, args), {
      code: 2,
      stdout: '',
      stderr: /^Usage: node dist\/src\/main\.js move <source> <target>\n.*pets and keys/,
    });
  for (const [args, reported] of [
    [[from, to], `There is no database ${from}.\n`],
    [['sqlite::memory:', to], /^SQLite, in memory: no other program can see it\. Nothing was moved\.\n$/],
    [['mysql://ada:secret@db/pets', to], /^Wrong configuration:\n {2}- DATABASE_URL must be sqlite:<file>, /],
  ] as const) {
    const { code, stdout, stderr } = await run(t, [...args]);
    t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: reported });
    t.notMatch(stderr, 'secret');
  }
  t.strictSame(readdirSync(folder), []);
  for (const file of [from, to]) {
    const store = openUrl(`sqlite:${file}`);
    await store.records.create({ name: 'Rex', categoryId: 7n });
    await store.close();
  }
  t.strictSame(await run(t, [from, to], { env: { DATABASE_URL: 'sqlite::memory:' } }), {
    code: 1,
    stdout: '',
    stderr: `SQLite, ${to}: it has pets already, and must be empty. Nothing was moved.\n`,
  });
});

t.test('if the disk fails when `move` commits, the error says that all or nothing was copied', async (t) => {
  const disk = prepareFaultyDisk(t);
  const { DATABASE_URL = '' } = disk.env;
  await openUrl(DATABASE_URL).close();
  const from = `${dirname(DATABASE_URL.replace('sqlite:', ''))}/from.db`;
  const store = openUrl(`sqlite:${from}`);
  await store.records.create({ name: 'Rex', categoryId: 7n });
  await store.close();
  disk.fail();
  const failed = await run(t, [from, DATABASE_URL], { env: disk.env });
  disk.mend();
  t.match(failed, {
    code: 1,
    stderr: /: disk I\/O error\. Either everything was moved or nothing. Try again: if the/,
  });
  const again = await run(t, [from, DATABASE_URL]);
  t.match(again.stdout + again.stderr, /^Moved 1 pets|: it has pets already/);
  t.ok(existsSync(from));
});
