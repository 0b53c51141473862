import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { startServer } from '../../program.ts';
import { send } from '../../service.ts';

for (const workers of [1, 2]) {
  t.test(
    `${workers} of ${workers} processes live on while the folder of the database is gone, and serve when it is back`,
    async (t) => {
      const folder = `${t.testdir()}/data`;
      mkdirSync(folder);
      const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, WORKERS: String(workers), ADMIN_PORT: '0' };
      const { output, request, written } = await startServer(t, { env, isCovered: true });
      await written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${workers}}`));
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
      if (workers > 1) {
        // One that is replaced meanwhile makes no other database.
        const [, pid] = /"pid":(\d+)[^\n]*"msg":"listening"/.exec(output.stdout) as RegExpExecArray;
        process.kill(Number(pid), 'SIGKILL');
        await written('stdout', /(?:"msg":"a worker ended, and is replaced"[\s\S]*){2}/);
        t.notOk(existsSync(folder));
      }
      renameSync(`${folder}-elsewhere`, folder);
      await written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${2 * workers - 1}}`));
      while ((await ask('/readyz')) !== 200) await wait(50);
      for (let pets = 2; pets <= 5; pets++) t.equal(await create(), 201);
      t.equal(((await request('/v1/pets')).body as object[]).length, 5);
      t.notMatch(output.stdout, /"level":60/);
    },
  );
}
