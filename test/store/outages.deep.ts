import t from 'tap';
import { startServer } from '../program.ts';
import type { ReceivedReply } from '../service.ts';
import { CREATE, idsIn, isUnavailable, prepareFile } from './file-outage.ts';

t.test('while the disk is full, POST gets 503 and stores nothing, and GET works; afterwards, both work', async (t) => {
  const { databaseUrl, connect } = prepareFile(t);
  // The limit is 4096 blocks of 512 bytes: writing beyond 2 MiB of a file fails like a write to a full disk.
  const { request, child } = await startServer(t, {
    shell: 'ulimit -f 4096',
    env: { DATABASE_URL: databaseUrl, DISABLE_V8_COMPILE_CACHE: '1' },
  });
  const created: number[] = [];

  /** Creates pets, `atOnce` at a time, until some fail. Returns the failed replies. */
  async function createUntilFull(atOnce: number): Promise<ReceivedReply[]> {
    for (let count = 0; count < 1000; count++) {
      const replies = await Promise.all(Array.from({ length: atOnce }, () => request('/v1/pets', CREATE)));
      const answered = replies.filter(({ status }) => status === 201);
      created.push(...answered.map(({ body }) => (body as { id: number }).id));
      if (answered.length < atOnce) return replies.filter(({ status }) => status !== 201);
    }
    throw new Error('the disk never got full');
  }

  // Ten pets may fail although there is still space for one. So the second round creates single pets.
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

  // Makes space: moves the grown write-ahead log into the database, and truncates the log.
  connect().pragma('wal_checkpoint(TRUNCATE)');
  const { status, text, body } = await request('/v1/pets', createOnce);
  t.equal(status, 201);
  t.equal((await request('/v1/pets', createOnce)).text, text);
  t.strictSame(await idsIn(request), [...created, (body as { id: number }).id]);

  child.kill('SIGKILL');
  const restarted = await startServer(t, { env: { DATABASE_URL: databaseUrl } });
  t.strictSame(await idsIn(restarted.request), [...created, (body as { id: number }).id]);
  t.equal(connect().pragma('integrity_check', { simple: true }), 'ok');
});
