import { execFileSync } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Sqlite } from '../../../src/contract-first/store/sqlite/sqlite.ts';
import { openUrl } from '../../database.ts';
import { prepareFaultyDisk } from '../../faulty-disk.ts';
import { type ProgramOptions, type Server, startProgram, startServer } from '../../program.ts';

type Command = 'backup' | 'restore';

/** Makes a folder for a database. Returns functions that start a server and run the two commands on it. */
function prepare(t: Test, env: Record<string, string> = {}) {
  const folder = t.testdir();
  const { DATABASE_URL = `sqlite:${folder}/a.db` } = env;
  return {
    folder,
    names: () => readdirSync(folder).sort(),
    server: () => startServer(t, { env: { DATABASE_URL } }),
    run: async (name: Command, arg: string, options: ProgramOptions = {}) => {
      const args = [name, ...(arg ? [arg.replace(/^(?=[a-z])/, `${folder}/`)] : [])];
      const { env: more, ...others } = options;
      const all = { DATABASE_URL, ...env, ...more };
      const program = startProgram(t, 'src/main.ts', { args, env: all, isCovered: true, ...others });
      return { code: await program.exit, ...program.output };
    },
  };
}

const add = async ({ request }: Server, name: string) =>
  (await request('/v1/pets', { method: 'POST', body: { name, categoryId: 7 } })).text;

/** Starts a server with two records, and makes a backup named `b`. */
async function prepareBackup(t: Test) {
  const all = prepare(t);
  const server = await all.server();
  const records = [await add(server, 'Rex 🐕'), await add(server, 'Max')];
  const made = await all.run('backup', 'b');
  t.match(made, { code: 0, stdout: /^Backed up \S+a\.db to \S+b\.\n$/, stderr: '' });
  return { ...all, server, records };
}

t.test('`restore` brings back every record that the server acknowledged before `backup` began', async (t) => {
  const { folder, names, run, server, records } = await prepareBackup(t);
  t.strictSame(names(), ['a.db', 'a.db-shm', 'a.db-wal', 'b']);
  t.equal(statSync(`${folder}/b`).mode & 0o777, 0o600);

  await add(server, 'later');
  const busy = await run('restore', 'b');
  t.match(busy, {
    code: 1,
    stderr: /a\.db is open in another program: stop the server first\. Nothing was restored\.\n$/,
  });
  server.child.kill('SIGKILL');
  await server.exit;
  const restored = await run('restore', 'b');
  const kept = /^Restored \S+a\.db\. The old one is now (\S+)\.\n$/.exec(restored.stdout)?.[1] ?? '';
  t.equal(restored.code, 0, restored.stderr);
  t.strictSame(names(), ['a.db', kept.replace(/.*\//, ''), 'b']);

  const again = await startServer(t, { env: { DATABASE_URL: `sqlite:${folder}/a.db` } });
  t.equal((await again.request('/v1/pets')).text, `[${records}]`);
  const before = await startServer(t, { env: { DATABASE_URL: `sqlite:${kept}` } });
  t.match((await before.request('/v1/pets')).body, [{}, {}, { name: 'later' }]);
});

t.test('a `backup` that fails prints the reason, and leaves no file', async (t) => {
  const { run, names, folder, server } = await prepareBackup(t);
  const before = names();
  for (const arg of ['', '--quick'])
    t.match(await run('backup', arg), {
      code: 2,
      stdout: '',
      stderr: /^Usage: node dist\/src\/main\.js backup <file>\n/,
    });
  t.match(await run('backup', 'b'), { code: 1, stderr: /b is there already: a backup replaces none\.\n$/ });
  t.match(await run('backup', 'a.db-journal'), {
    code: 1,
    stderr: /is where SQLite keeps changes of \S+a\.db: take a /,
  });
  t.match(await run('backup', 'none/c'), { code: 1, stderr: /^ENOENT: no such file or directory, open / });
  for (const [DATABASE_URL, reported] of [
    ['sqlite::memory:', /^DATABASE_URL is in memory/],
    [
      'postgres://a:b@127.0.0.1/c',
      /^DATABASE_URL names PostgreSQL: use pg_dump .* and pg_restore, .*snapshots.* move\.\n$/,
    ],
    [`sqlite:${folder}/none`, /^There is no database \S+none\. Go to/],
  ] as const) {
    t.match(await run('backup', 'c', { env: { DATABASE_URL } }), { code: 1, stderr: reported });
  }
  t.strictSame(names(), before);
  server.child.kill('SIGKILL');
  await server.exit;

  const db = new Sqlite(`${folder}/a.db`);
  db.exec("PRAGMA ignore_check_constraints = 1; INSERT INTO pets (id, name, category_id) VALUES (0, 'Rex', 7)");
  db.close();
  t.match(await run('backup', 'c'), {
    code: 1,
    stderr: /^\S+a\.db cannot be copied: CHECK constraint failed in pets\.\n$/,
  });
  const bytes = readFileSync(`${folder}/a.db`);
  writeFileSync(`${folder}/a.db`, bytes.fill(0, 4096, 3 * 4096));
  t.match(await run('backup', 'c'), {
    code: 1,
    stderr: /^\S+a\.db cannot be copied: database disk image is malformed\.\n$/,
  });
  t.strictSame(
    names().filter((name) => name.startsWith('c')),
    [],
  );
});

t.test('a `backup` that SIGTERM stops leaves no file, even if the disk does not respond', async (t) => {
  const disk = prepareFaultyDisk(t);
  const { DATABASE_URL = '' } = disk.env;
  await openUrl(DATABASE_URL).close();
  const folder = dirname(DATABASE_URL.replace('sqlite:', ''));
  disk.stall();
  const args = ['backup', `${folder}/b`];
  const program = startProgram(t, 'src/main.ts', { args, env: disk.env, isCovered: true });
  const names = () => readdirSync(folder).filter((name) => name.startsWith('b'));
  // Waits until the copying thread has created its journal and is blocked by the disk.
  while (names().length < 2) await wait(20);
  program.child.kill('SIGTERM');
  t.equal(await program.exit, 'SIGTERM');
  t.strictSame(names(), []);
  disk.mend();
});

t.test('`restore` rejects a damaged backup, prints the reason and changes nothing', async (t) => {
  const { run, folder, names, server } = await prepareBackup(t);
  server.child.kill('SIGTERM');
  await server.exit;
  const before = names();
  const bytes = readFileSync(`${folder}/b`);
  const copy = new Sqlite(`${folder}/b`, { readonly: true });
  const page =
    copy.prepare<[], number>("SELECT rootpage FROM sqlite_schema WHERE name = 'pets_by_status'").pluck().get() ?? 0;
  copy.close();
  const other = new Sqlite(`${folder}/other`);
  other.exec('CREATE TABLE pets (id INTEGER)');
  other.close();
  for (const [differs, reported] of [
    [Buffer.from(bytes).fill(1, (page - 1) * 4096, page * 4096), /\bpage \d+: /],
    [bytes.subarray(0, bytes.length - 4096), /database disk image is malformed/],
    [Buffer.from('none'), /file is not a database/],
    [Buffer.alloc(0), /it has no tables of this program/],
    [readFileSync(`${folder}/other`), /it has tables of another program.*: pets/],
  ] as const) {
    writeFileSync(`${folder}/c`, differs);
    const message = new RegExp(
      `c is no whole backup of this service: .*${reported.source}.*\\. Nothing was restored\\.\n$`,
    );
    t.match(await run('restore', 'c'), { code: 1, stderr: message });
  }
  t.match(await run('restore', 'd'), { code: 1, stderr: `${folder}/d is missing. Nothing was restored.\n` });
  for (const make of ['mkdir', 'mkfifo']) {
    execFileSync(make, [`${folder}/p`]);
    t.match(await run('restore', 'p'), { code: 1, stderr: `${folder}/p is not a file. Nothing was restored.\n` }, make);
    rmSync(`${folder}/p`, { recursive: true });
  }
  t.strictSame(names(), [...before, 'c', 'other']);
  t.ok(readFileSync(`${folder}/b`).equals(bytes));
});

t.test('`restore` keeps the replaced database even if another `restore` did so in the same second', async (t) => {
  const { folder, names, run, server } = await prepareBackup(t);
  server.child.kill('SIGTERM');
  await server.exit;
  // These names are already taken, as if other restores had kept databases in these seconds.
  const begun = Date.now();
  const taken = [0, 1, 2, 3].map((second) => new Date(begun + second * 1000).toISOString().replace(/[-:]|\.\d+/g, ''));
  for (const name of taken) writeFileSync(`${folder}/a.db.${name}`, 'earlier');
  t.match(await run('restore', 'b'), { code: 0, stdout: /The old one is now \S+a\.db\.\d+T\d+Z\.\n$/ });
  for (const name of taken) t.equal(readFileSync(`${folder}/a.db.${name}`, 'utf8'), 'earlier');
  t.equal(names().filter((name) => /^a\.db\.\d+T\d+Z$/.test(name)).length, 5);
});

t.test(
  '`restore` does not replace a database that it cannot open; if only the write-ahead log exists, it keeps the log',
  async (t) => {
    const { run, folder, names, server, records } = await prepareBackup(t);
    copyFileSync(`${folder}/a.db-wal`, `${folder}/wal`);
    server.child.kill('SIGTERM');
    await server.exit;
    renameSync(`${folder}/a.db`, `${folder}/earlier`);
    renameSync(`${folder}/wal`, `${folder}/a.db-wal`);
    t.match(await run('restore', 'b'), { code: 0, stdout: /^Restored \S+a\.db\.\n$/ });
    t.match(names(), ['a.db', /^a\.db\.20\d+T\d+Z-wal$/, 'b', 'earlier']);
    const db = new Sqlite(`${folder}/a.db`, { readonly: true });
    t.equal(db.prepare('SELECT count(*) FROM pets').pluck().get(), records.length);
    db.close();

    writeFileSync(`${folder}/a.db`, 'x'.repeat(5000));
    const reported =
      /a\.db cannot be opened \(file is not a database\): when no server runs, move it away .* Nothing was restored\.\n$/;
    t.match(await run('restore', 'b'), { code: 1, stderr: reported });
    t.equal(statSync(`${folder}/a.db`).size, 5000);
  },
);

t.test(
  'if `restore` may not change the owner of the file, it names the user who may, and leaves no files',
  async (t) => {
    const { run, folder } = await prepareBackup(t);
    const isRoot = process.getuid?.() === 0;
    // A folder that belongs to another user, where everybody may write.
    const place = isRoot ? `${folder}/theirs` : '/dev/shm';
    if (isRoot) {
      mkdirSync(place);
      chownSync(place, 1, 1);
    }
    const DATABASE_URL = `sqlite:${place}/petstore-${process.pid}.db`;
    const shell = isRoot ? 'exec setpriv --bounding-set -chown "$@"' : ':';
    t.match(await run('restore', 'b', { env: { DATABASE_URL }, shell }), {
      code: 1,
      stderr:
        /db belongs to user \d+, group \d+, to whom you cannot give a file: restore as that user, or as root\. Nothing/,
    });
    t.strictSame(
      readdirSync(place).filter((name) => name.startsWith('petstore-')),
      [],
    );
  },
);
