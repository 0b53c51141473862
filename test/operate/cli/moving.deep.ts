import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { openUrl } from '../../database.ts';
import { prepareFaultyDisk } from '../../faulty-disk.ts';
import { startPostgres } from '../../postgres.ts';
import { startProgram, startServer } from '../../program.ts';
import { run, writeExport } from './moving.ts';

t.test('from file to SQLite to PostgreSQL and back, every byte stays the same', async (t) => {
  const postgres = await startPostgres(t);
  const folder = t.testdir();
  const text = writeExport(`${folder}/0`, 12_000);
  const urls = [`sqlite:${folder}/a.db`, postgres.newUrl(), `sqlite:${folder}/b.db`];
  for (const [index, url] of urls.entries()) {
    const imported = await run(t, 'import', `${folder}/${index}`, url, { isCovered: false });
    t.equal(imported.code, 0, imported.stderr);
    t.match(imported.stderr, /^Imported 12,000 pets and 1 key\.$/m);
    const exported = await run(t, 'export', `${folder}/${index + 1}`, url, { isCovered: index === 0 });
    t.equal(exported.code, 0, exported.stderr);
    t.match(exported.stderr, /^Exported 12,000 pets and 1 key\.$/m);
    t.equal(exported.stdout + imported.stdout, '');
    t.ok(readFileSync(`${folder}/${index + 1}`, 'utf8') === text);
  }
  t.strictSame(readdirSync(folder).sort(), ['0', '1', '2', '3', 'a.db', 'b.db']);
});

t.test('through standard output and input, beside running servers: the new one sees all at once', async (t) => {
  const folder = t.testdir();
  const urls = [`sqlite:${folder}/a.db`, `sqlite:${folder}/b.db`] as const;
  const [from, to] = await Promise.all(urls.map((DATABASE_URL) => startServer(t, { env: { DATABASE_URL } })));
  let isDone = false;
  let created = 0;
  const creating = async () => {
    while (!isDone) {
      await from?.request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
      created++;
    }
  };
  const all = [creating(), creating()];
  while (created < 20) await wait(10);
  const exported = await run(t, 'export', '-', urls[0]);
  isDone = true;
  await Promise.all(all);
  t.equal(exported.code, 0, exported.stderr);
  writeFileSync(`${folder}/pets`, exported.stdout);
  const lastId = Number(/"lastId":\{"pets":(\d+)/.exec(exported.stdout)?.[1]);
  t.ok(lastId >= 20 && lastId <= created);

  const imported = await run(t, 'import', '-', urls[1], { shell: `exec < ${folder}/pets` });
  t.equal(imported.stderr, `Imported ${lastId} pets and 0 keys.\n`);
  for (const id of [1, lastId]) {
    t.equal((await to?.request(`/v1/pets/${id}`))?.text, (await from?.request(`/v1/pets/${id}`))?.text);
  }
  t.equal((await to?.request(`/v1/pets/${lastId + 1}`))?.status, 404);
  const { headers } = (await to?.request('/v1/pets', { method: 'POST', body: { name: 'Max', categoryId: 7 } })) ?? {};
  t.equal(headers?.location, `/v1/pets/${lastId + 1}`);
});

t.test('an import that failed can be repeated, and what was imported is not imported again', async (t) => {
  const folder = t.testdir();
  const url = `sqlite:${folder}/data/pets.db`;
  const file = `${folder}/pets`;
  writeExport(file, 3);
  t.match(await run(t, 'import', `${folder}/none`, url), { code: 1, stderr: /^ENOENT: no such file/ });
  t.strictSame(readdirSync(folder), ['pets']);
  t.match(await run(t, 'import', file, url), { code: 0, stderr: 'Imported 3 pets and 1 key.\n' });
  t.match(await run(t, 'import', file, url), {
    code: 1,
    stderr: 'The database has pets and keys already, and must be empty. Nothing was imported.\n',
  });
});

t.test('an export without a database, or whose reader has gone, says so', async (t) => {
  const folder = t.testdir();
  const url = `sqlite:${folder}/pets.db`;
  t.match(await run(t, 'export', `${folder}/a`, url), { code: 1, stderr: /^There is no database \/.*\/pets\.db\. / });
  t.strictSame(readdirSync(folder), []);

  writeExport(`${folder}/first`, 20_000);
  await run(t, 'import', `${folder}/first`, url);
  const reader = startProgram(t, 'src/operate/cli/export.ts', {
    args: ['-'],
    env: { DATABASE_URL: url },
    isCovered: true,
  });
  reader.child.stdout?.destroy();
  t.equal(await reader.exit, 1);
  t.equal(reader.output.stderr, 'The export cannot be written: write EPIPE.\n');
  t.strictSame(readdirSync(folder).sort(), ['first', 'pets.db']);
});

for (const signal of ['SIGTERM', 'SIGHUP'] as const)
  t.test(`an export that is stopped by ${signal} leaves the earlier file as it was`, async (t) => {
    const disk = prepareFaultyDisk(t);
    const { DATABASE_URL = '' } = disk.env;
    await openUrl(DATABASE_URL).close();
    const folder = `${dirname(DATABASE_URL.replace('sqlite:', ''))}/exports`;
    mkdirSync(folder);
    const earlier = writeExport(`${folder}/pets`, 3);
    disk.stall();
    const program = startProgram(t, 'src/operate/cli/export.ts', {
      args: [`${folder}/pets`],
      env: disk.env,
      isCovered: true,
    });
    const count = async (files: number) => {
      while (readdirSync(folder).length !== files) await wait(20);
    };
    await count(2);
    program.child.kill(signal);
    await count(1);
    disk.mend();
    t.equal(await program.exit, 1, program.output.stderr);
    t.strictSame(readdirSync(folder), ['pets']);
    t.equal(readFileSync(`${folder}/pets`, 'utf8'), earlier);
  });
