import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { openUrl } from '../../database.ts';
import { prepareFaultyDisk } from '../../faulty-disk.ts';
import { run, writeExport } from './moving.ts';

t.test('from a file to SQLite and back, every byte stays the same', async (t) => {
  const folder = t.testdir();
  const text = writeExport(`${folder}/0`, 12_000);
  const url = `sqlite:${folder}/a.db`;
  const imported = await run(t, 'import', '-', url, { shell: `exec < ${folder}/0` });
  t.equal(imported.code, 0, imported.stderr);
  t.match(imported.stderr, /^Imported 12,000 pets and 1 key\.$/m);
  const exported = await run(t, 'export', `${folder}/1`, url);
  t.equal(exported.code, 0, exported.stderr);
  t.match(exported.stderr, /^Exported 12,000 pets and 1 key\.$/m);
  t.equal(exported.stdout + imported.stdout, '');
  t.ok(readFileSync(`${folder}/1`, 'utf8') === text);
  t.strictSame(readdirSync(folder).sort(), ['0', '1', 'a.db']);
});

t.test('an import that fails says why, and imports nothing', async (t) => {
  const folder = t.testdir();
  const url = `sqlite:${folder}/data/pets.db`;
  const text = writeExport(`${folder}/pets`, 3);
  const usage = /^Usage:\n.* npm run import -- <file> .*\n.* node dist\/src\/operate\/cli\/import\.js <file> .*\n$/;
  for (const arg of ['', '--help']) t.match(await run(t, 'import', arg, url), { code: 1, stderr: usage }, arg);
  t.strictSame(readdirSync(folder), ['pets']);

  writeFileSync(`${folder}/cut`, text.slice(0, text.indexOf('{"end"')));
  t.match(await run(t, 'import', `${folder}/cut`, url), {
    code: 1,
    stderr: 'The export is cut off after line 5: its last line, "end", is missing. Nothing was imported.\n',
  });
});

t.test('when the disk fails at the end, it is not known whether all was imported', async (t) => {
  const disk = prepareFaultyDisk(t);
  const { DATABASE_URL = '' } = disk.env;
  await openUrl(DATABASE_URL).close();
  const file = `${dirname(DATABASE_URL.replace('sqlite:', ''))}/pets`;
  writeExport(file, 3);
  disk.fail();
  const failed = await run(t, 'import', file, DATABASE_URL, { env: disk.env });
  disk.mend();
  t.match(failed, {
    code: 1,
    stderr: /^The database cannot be used now: disk I\/O error\. Everything was imported, or nothing: try again; it is/,
  });
  const again = await run(t, 'import', file, DATABASE_URL);
  t.match(again.stderr, /^Imported 3 pets|^The database has pets and keys already/);
});

t.test('an export that fails says why, and leaves no file', async (t) => {
  const folder = t.testdir();
  const url = `sqlite:${folder}/pets.db`;
  const usage = /^Usage:\n.* npm run export -- <file> .*\n.* node dist\/src\/operate\/cli\/export\.js <file> .*\n$/;
  for (const arg of ['', '--help', '-h']) t.match(await run(t, 'export', arg, url), { code: 1, stderr: usage }, arg);
  t.strictSame(readdirSync(folder), []);

  writeExport(`${folder}/first`, 20_000);
  await run(t, 'import', `${folder}/first`, url);
  for (const [arg, shell, told] of [
    ['/dev/null', ':', '/dev/null is not a file.\n'],
    ['-', 'exec > /dev/full', 'The export cannot be written: ENOSPC: no space left on device, write.\n'],
  ] as const) {
    t.match(await run(t, 'export', arg, url, { shell }), { code: 1, stdout: '', stderr: told }, arg);
  }
  t.ok(statSync('/dev/null').isCharacterDevice());

  const bytes = readFileSync(`${folder}/pets.db`);
  writeFileSync(`${folder}/pets.db`, bytes.fill(0, bytes.length / 4, bytes.length / 2));
  t.match(await run(t, 'export', `${folder}/a`, url), {
    code: 1,
    stderr: 'The database cannot be used now: database disk image is malformed. Nothing was changed.\n',
  });
  t.strictSame(readdirSync(folder).sort(), ['first', 'pets.db']);
});

t.test('an export replaces an earlier one and nothing else: not its own database, by a slip', async (t) => {
  const folder = t.testdir({ notes: 'notes', empty: '' });
  const url = `sqlite:${folder}/pets.db`;
  const text = writeExport(`${folder}/first`, 3);
  await run(t, 'import', `${folder}/first`, url);
  const open = openUrl(url);
  const kept = readFileSync(`${folder}/pets.db`);
  for (const name of ['pets.db', 'notes'])
    t.match(await run(t, 'export', `${folder}/${name}`, url), {
      code: 1,
      stderr: `${folder}/${name} is there already, and is no export: only an earlier export is replaced.\n`,
    });
  for (const end of ['-wal', '-shm', '-journal'])
    t.match(await run(t, 'export', `${folder}/pets.db${end}`, url), {
      code: 1,
      stderr: /is where SQLite keeps changes of \S+pets\.db: take a name that does not end with -[a-z]+\.\n$/,
    });
  await open.close();
  t.ok(kept.equals(readFileSync(`${folder}/pets.db`)));
  t.equal(readFileSync(`${folder}/notes`, 'utf8'), 'notes');
  for (const name of ['empty', 'first']) {
    t.match(await run(t, 'export', `${folder}/${name}`, url), { code: 0 }, name);
    t.equal(readFileSync(`${folder}/${name}`, 'utf8'), text, name);
  }
});
