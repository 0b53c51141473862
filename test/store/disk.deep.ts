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

t.test('if the disk stalls, a server that gets SIGTERM kills itself after STOP_TIMEOUT', async (t) => {
  const disk = prepareFaultyDisk(t);
  const env = { ...disk.env, CREATE_TIMEOUT: '1000', DRAIN_DELAY: '0', STOP_TIMEOUT: '3000' };
  const { request, child, exit, output } = await startServer(t, { env });
  await untilReady(request);
  disk.stall();
  const create = request('/v1/pets', CREATE);
  // The server accepts connections in order: its reply on this connection proves that it has accepted the earlier one.
  await request('/livez');
  child.kill('SIGTERM');
  t.equal(codeOf(await create), 'outcome_unknown');
  t.equal(await exit, 'SIGKILL');
  t.match(output.stdout, 'killed, because it had not stopped yet');
});
