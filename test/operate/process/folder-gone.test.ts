import { mkdirSync, renameSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { startServer } from '../../program.ts';
import { send } from '../../service.ts';

t.test('a process lives on while the folder of the database is gone, and serves when it is back', async (t) => {
  const folder = `${t.testdir()}/data`;
  mkdirSync(folder);
  const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, ADMIN_PORT: '0' };
  const { output, request, written } = await startServer(t, { env, isCovered: true });
  const [, port] = await written('stdout', /"admin":"http:\/\/127\.0\.0\.1:(\d+)"/);
  const ask = async (path: string) => (await send(Number(port), path, { key: null })).status;
  const create = async () =>
    (await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } })).status;
  t.equal(await create(), 201);
  while ((await ask('/readyz')) !== 200) await wait(50);

  renameSync(folder, `${folder}-elsewhere`);
  for (const path of ['/readyz', '/readyz', '/metrics', '/livez'])
    t.equal(await ask(path), path === '/readyz' ? 503 : 200, path);
  t.equal(await create(), 503);
  renameSync(`${folder}-elsewhere`, folder);
  while ((await ask('/readyz')) !== 200) await wait(50);
  for (let pets = 2; pets <= 5; pets++) t.equal(await create(), 201);
  t.equal(((await request('/v1/pets')).body as object[]).length, 5);
  t.notMatch(output.stdout, /"level":60/);
});
