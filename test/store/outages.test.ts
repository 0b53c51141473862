import { renameSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import t, { type Test } from 'tap';
import { Sqlite } from '../../src/store/sqlite/kept-sqlite.ts';
import { startServer } from '../program.ts';
import { type Received, type Request, startService } from '../service.ts';

const CREATE = { method: 'POST', body: { name: 'Rex', categoryId: 7 } };

function prepareFile(t: Test) {
  const file = `${t.testdir()}/pets.db`;
  /** A connection of another program. */
  const connect = (): Database => {
    const db = new Sqlite(file);
    t.teardown(() => db.close());
    return db;
  };
  return { file, databaseUrl: `sqlite:${file}`, connect };
}

function isUnavailable(t: Test, { status, headers, body }: Received): void {
  t.equal(status, 503);
  t.equal(headers['retry-after'], '1');
  t.strictSame(body, {
    code: 'unavailable',
    message: 'The service is unavailable. Try again later.',
    status: 503,
  });
}

/** The ids of all pets, from the first page to the last. */
async function idsIn(request: Request): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = '/v1/pets?limit=100'; next; ) {
    const { body, headers }: Received = await request(next);
    ids.push(...(body as { id: number }[]).map(({ id }) => id));
    next = headers.link?.match(/^<(.*)>/)?.[1];
  }
  return ids;
}

t.test('while the database is locked, POST is 503 and GET works; afterwards, both work', async (t) => {
  const { databaseUrl, connect } = prepareFile(t);
  const { request } = await startService(t, { databaseUrl });
  t.equal((await request('/v1/pets', CREATE)).status, 201);
  const other = connect();
  other.exec('BEGIN EXCLUSIVE');
  const refused = request('/v1/pets', CREATE);
  t.equal((await request('/v1/pets/1')).status, 200);
  isUnavailable(t, await refused);
  t.strictSame(await idsIn(request), [1]);
  other.exec('ROLLBACK');
  t.equal((await request('/v1/pets', CREATE)).status, 201);
  t.strictSame(await idsIn(request), [1, 2]);
});

t.test('while the database is moved away, POST is 503 and the server is not ready', async (t) => {
  const { file, databaseUrl } = prepareFile(t);
  const { request } = await startService(t, { databaseUrl });
  t.equal((await request('/v1/pets', CREATE)).status, 201);
  renameSync(file, `${file}.moved`);
  isUnavailable(t, await request('/v1/pets', CREATE));
  isUnavailable(t, await request('/readyz'));
  t.equal((await request('/livez')).status, 200);
  t.strictSame(await idsIn(request), [1]);
  renameSync(`${file}.moved`, file);
  t.equal((await request('/readyz')).status, 200);
  t.equal((await request('/v1/pets', CREATE)).status, 201);
  t.strictSame(await idsIn(request), [1, 2]);
});

t.test(
  'while the disk is full, POST is 503 and leaves nothing behind, GET goes on, and all is well afterwards',
  async (t) => {
    const { databaseUrl, connect } = prepareFile(t);
    // No file may grow beyond 2 MiB (4096 blocks of 512 bytes); what is written beyond fails as on a full disk.
    const { request, child } = await startServer(t, {
      shell: 'ulimit -f 4096',
      env: { DATABASE_URL: databaseUrl, DISABLE_V8_COMPILE_CACHE: '1' },
    });
    const created: number[] = [];

    /** Creates so many pets at once until creating fails; returns the failures. */
    async function createUntilFull(atOnce: number): Promise<Received[]> {
      for (let count = 0; count < 1000; count++) {
        const replies = await Promise.all(Array.from({ length: atOnce }, () => request('/v1/pets', CREATE)));
        const answered = replies.filter(({ status }) => status === 201);
        created.push(...answered.map(({ body }) => (body as { id: number }).id));
        if (answered.length < atOnce) return replies.filter(({ status }) => status !== 201);
      }
      throw new Error('the disk never got full');
    }

    // One pet may still fit where ten do not.
    for (const atOnce of [10, 1]) {
      for (const reply of await createUntilFull(atOnce)) isUnavailable(t, reply);
    }
    t.ok(created.length > 100);
    t.strictSame(
      await idsIn(request),
      created.sort((a, b) => a - b),
    );

    const createOnce = { ...CREATE, headers: { 'idempotency-key': 'sent-until-answered' } };
    isUnavailable(t, await request('/v1/pets', createOnce));

    // Makes room: SQLite's log, which has grown, is moved into the database and starts again.
    connect().pragma('wal_checkpoint(TRUNCATE)');
    const { status, text, body } = await request('/v1/pets', createOnce);
    t.equal(status, 201);
    t.equal((await request('/v1/pets', createOnce)).text, text);
    t.strictSame(await idsIn(request), [...created, (body as { id: number }).id]);

    child.kill('SIGKILL');
    const restarted = await startServer(t, { env: { DATABASE_URL: databaseUrl } });
    t.strictSame(await idsIn(restarted.request), [...created, (body as { id: number }).id]);
    t.equal(connect().pragma('integrity_check', { simple: true }), 'ok');
  },
);
