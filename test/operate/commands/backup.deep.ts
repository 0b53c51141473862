import { existsSync, readdirSync, rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Sqlite } from '../../../src/contract-first/store/sqlite/sqlite.ts';
import { startProgram, startServer } from '../../program.ts';
import { KEY, send } from '../../service.ts';

/** The number of commands of each kind that are killed. */
const ROUNDS = Number(process.env.ROUNDS ?? 2);
const CLIENTS = 16;
/** The latest time at which a command is killed, in milliseconds after its start. */
const LATEST = 1500;

const start = (t: Test, name: string, arg: string, file: string) =>
  startProgram(t, 'src/main.ts', { args: [name, arg], env: { DATABASE_URL: `sqlite:${file}` } });

async function run(t: Test, name: string, arg: string, file: string): Promise<void> {
  const { exit, output } = start(t, name, arg, file);
  t.equal(await exit, 0, output.stderr);
}

/** Adds records until the server is gone, and records each acknowledged one with the time of its reply. */
async function addUntilEnd(port: number, acknowledged: Map<number, [text: string, at: number]>): Promise<void> {
  for (let count = 0; ; count++) {
    const body = { name: `Rex ${count} 🐕`, categoryId: Number.MAX_SAFE_INTEGER - count };
    const started = performance.now();
    const reply = await send(port, '/v1/pets', { method: 'POST', key: KEY, body }).catch(() => undefined);
    if (!reply) return;
    if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`);
    longest = Math.max(longest, performance.now() - started);
    acknowledged.set(JSON.parse(reply.text).id, [reply.text, performance.now()]);
  }
}
let longest = 0;

t.test(
  'after a backup under load, a kill and a restore, the database has every record acknowledged before the backup',
  async (t) => {
    const folder = t.testdir();
    const file = `${folder}/a.db`;
    const server = await startServer(t, { env: { DATABASE_URL: `sqlite:${file}` } });
    fill(file, 200_000);
    const acknowledged = new Map<number, [string, number]>();
    const clients = Array.from({ length: CLIENTS }, () => addUntilEnd(server.port, acknowledged));
    while (acknowledged.size < 500) await wait(10);
    longest = 0;
    const begun = performance.now();
    const before = acknowledged.size;
    await run(t, 'backup', `${folder}/b`, file);
    t.comment(
      `${acknowledged.size - before} creates during ${Math.round(performance.now() - begun)} ms of backup, the longest took ${Math.round(longest)} ms`,
    );
    t.ok(acknowledged.size > before, 'clients create records during the backup');
    server.child.kill('SIGKILL');
    await Promise.all(clients);
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });

    await run(t, 'restore', `${folder}/b`, file);
    const again = await startServer(t, { env: { DATABASE_URL: `sqlite:${file}` } });
    let checked = 0;
    for (const [id, [text, at]] of acknowledged) {
      if (at > begun) continue;
      checked++;
      if ((await send(again.port, `/v1/pets/${id}`)).text !== text) t.fail(text);
    }
    t.ok(checked >= 500);
  },
);

/** Adds pets with another program, so that copying the database takes time. */
function fill(file: string, count: number): void {
  const db = new Sqlite(file);
  db.exec(`INSERT INTO pets (name, category_id)
    WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT 'Pet ' || i || '${'x'.repeat(80)}', i FROM n`);
  db.close();
}

function countRows(file: string): number {
  const db = new Sqlite(file, { fileMustExist: true });
  const count = db.prepare<[], number>('SELECT count(*) FROM pets').pluck().get() as number;
  if (db.pragma('integrity_check', { simple: true }) !== 'ok') throw new Error('damaged');
  db.close();
  return count;
}

/** Starts a command, and kills it at a random time. */
async function kill(t: Test, name: string, arg: string, file: string): Promise<void> {
  const { child, exit } = start(t, name, arg, file);
  await wait(LATEST * Math.random());
  child.kill('SIGKILL');
  await exit;
}

t.test('a `backup` or `restore` that is killed at any time leaves a complete database or none', async (t) => {
  const folder = t.testdir();
  const file = `${folder}/a.db`;
  const server = await startServer(t, { env: { DATABASE_URL: `sqlite:${file}` } });
  server.child.kill('SIGTERM');
  await server.exit;
  fill(file, 2000);
  await run(t, 'backup', `${folder}/b`, file);
  fill(file, 1000);

  const done = { backup: 0, restore: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const copy = `${folder}/${round}`;
    await kill(t, 'backup', copy, file);
    if (existsSync(copy)) {
      t.equal(countRows(copy), countRows(file));
      done.backup++;
    }
    await kill(t, 'restore', `${folder}/b`, file);
    const count = countRows(file);
    t.ok(count === 3000 || count === 2000, `${count} rows`);
    if (count === 3000) continue;
    done.restore++;
    fill(file, 1000);
  }
  t.comment(`of ${ROUNDS} each, ${done.backup} backups and ${done.restore} restores were done`);
  // Every restore has kept the database that it replaced.
  const kept = readdirSync(folder).filter((name) => /^a\.db\.\d+T\d+Z$/.test(name));
  for (const name of kept) t.equal(countRows(`${folder}/${name}`), 3000);
  await run(t, 'restore', `${folder}/b`, file);
  t.equal(countRows(file), 2000);
});
