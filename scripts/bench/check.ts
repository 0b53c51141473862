/** Checks before measuring that every server does the whole job, and that all send the same replies. */
import assert from 'node:assert/strict';
import { toListText, toPetText } from './pets.ts';
import type { Running, Server } from './servers.ts';
import { API_KEY, PREFIX } from './workloads.ts';

const NEW_PET = { name: 'Rex', categoryId: 7, status: 'sold' };

/** @throws AssertionError that shows the wrong reply */
export async function checkServer(server: Server, { port }: Running, rows: number): Promise<void> {
  async function expect(
    status: number,
    body: unknown,
    path: string,
    { key = API_KEY, post = undefined as unknown } = {},
  ) {
    const reply = await fetch(`http://127.0.0.1:${port}${PREFIX}${path}`, {
      headers: { authorization: `Bearer ${key}`, ...(post !== undefined && { 'content-type': 'application/json' }) },
      ...(post !== undefined && { method: 'POST', body: JSON.stringify(post) }),
    });
    const got = await reply.json();
    // Only the status of a failure is compared: each server words its Error body in its own way.
    const seen = reply.ok ? got : { status: (got as { status: unknown }).status };
    const request = `${server.title}: ${path}`;
    assert.deepEqual({ request, status: reply.status, body: seen }, { request, status, body });
  }
  const expectFailure = (status: number, path: string, options = {}) => expect(status, { status }, path, options);

  await expect(200, JSON.parse(toListText(20)), '/pets?limit=20');
  if (server.isConstant) return;
  await expect(200, JSON.parse(toListText(100)), '/pets?limit=100');
  await expect(200, JSON.parse(toListText(20, 'sold')), '/pets?status=sold');
  await expect(200, JSON.parse(toPetText(rows)), `/pets/${rows}`);
  await expect(201, { id: rows + 1, ...NEW_PET }, '/pets', { post: NEW_PET });
  await expect(200, { id: rows + 1, ...NEW_PET }, `/pets/${rows + 1}`);
  await expectFailure(404, `/pets/${rows + 2}`);
  await expectFailure(400, '/pets?limit=101');
  await expectFailure(400, '/pets', { post: { name: 'Rex' } });
  await expectFailure(401, '/pets', { key: 'no-key-of-the-benchmark' });
}
