import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { prepareFaultyDisk } from '../faulty-disk.ts';
import { startServer } from '../program.ts';
import type { ReceivedReply, SendRequest } from '../service.ts';

const CREATE = { method: 'POST', body: { name: 'Rex', categoryId: 7 } };

/** Resolves when `/readyz` reports that the server is ready, or with `false` that it is not ready. */
async function untilReady(request: SendRequest, isReady = true): Promise<void> {
  while (((await request('/readyz')).status === 200) !== isReady) await wait(20);
}

const codeOf = ({ body }: ReceivedReply) => (body as { code?: string }).code ?? 'created';

t.test('while the disk stalls, the error of each create tells whether the pet may be stored later', async (t) => {
  const disk = prepareFaultyDisk(t);
  const { request, child, exit } = await startServer(t, {
    env: { ...disk.env, CREATE_TIMEOUT: '5000' },
    isCovered: true,
  });
  const create = async () => codeOf(await request('/v1/pets', CREATE));
  await untilReady(request);
  t.equal(await create(), 'created');

  disk.stall();
  const handedOver = create();
  t.equal((await request('/v1/pets/1')).status, 200);
  const waiting = create();
  // While the disk stalls, the server accepts creates until they time out, but is not ready.
  await untilReady(request, false);
  t.equal((await request('/livez')).status, 200);
  t.equal(await handedOver, 'outcome_unknown');
  t.equal(await waiting, 'unavailable');
  t.equal(await create(), 'overloaded');
  t.equal((await request('/readyz')).status, 503);
  t.equal((await request('/v1/pets')).status, 200);

  disk.mend();
  await untilReady(request);
  t.equal(await create(), 'created');
  t.strictSame(
    ((await request('/v1/pets')).body as { id: number }[]).map(({ id }) => id),
    [1, 2, 3],
  );
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test(
  'if fsync fails, the outcome of the create is unknown, and the server is not ready until fsync works again',
  async (t) => {
    const disk = prepareFaultyDisk(t);
    const { request, child, exit } = await startServer(t, { env: disk.env, isCovered: true });
    const create = async () => codeOf(await request('/v1/pets', CREATE));
    t.equal(await create(), 'created');
    disk.fail();
    t.equal(await create(), 'outcome_unknown');
    t.equal((await request('/readyz')).status, 503);
    t.equal((await request('/v1/pets')).status, 200);
    disk.mend();
    await untilReady(request);
    t.equal(await create(), 'created');
    child.kill('SIGTERM');
    t.equal(await exit, 0);
  },
);
