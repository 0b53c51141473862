/** `/readyz` tests whether creates work: by a create that is rolled back. */
import t, { type Test } from 'tap';
import { openPostgresUrl, schemaOf, startPostgres } from '../postgres.ts';
import { type Service, type StartOptions, startService } from '../service.ts';
import { CREATE, isUnavailable, prepareFile } from './file-outage.ts';

interface Broken extends StartOptions {
  /** Makes every create fail, but no read. */
  breakCreates: () => unknown;
  mend: () => unknown;
  /** The reason that the log must contain. */
  why: RegExp;
}

async function check(t: Test, { breakCreates, mend, why, ...options }: Broken): Promise<void> {
  let log = '';
  const { request }: Service = await startService(t, { ...options, log: { write: (line) => (log += line) } });
  const linesOf = (text: string) => log.split('\n').filter((line) => line.includes(`"msg":"${text}"`));
  await breakCreates();
  for (let asked = 0; asked < 3; asked++) isUnavailable(t, await request('/readyz'));
  t.equal((await request('/v1/pets')).status, 200);
  t.equal((await request('/v1/pets', CREATE)).status, 500);
  isUnavailable(t, await request('/readyz'));
  const reported = linesOf('not ready');
  t.equal(reported.length, 1);
  t.match(reported[0], why);

  await mend();
  for (let asked = 0; asked < 3; asked++) t.equal((await request('/readyz')).status, 200);
  t.equal(linesOf('ready again').length, 1);
  t.match(await request('/v1/pets', CREATE), { status: 201, body: { id: 1 } }, 'the failed creates used no id');

  await breakCreates();
  t.equal((await request('/v1/pets', CREATE)).status, 500);
  isUnavailable(t, await request('/readyz'));
  t.equal(linesOf('not ready').length, 2);
  t.match(await request('/v1/pets'), { status: 200, body: [{ id: 1 }] }, 'no failed create is stored');
}

t.test('a server on SQLite whose creates all fail is not ready, and logs the reason once', async (t) => {
  const { databaseUrl, connect } = prepareFile(t);
  const other = () => connect();
  await check(t, {
    databaseUrl,
    breakCreates: () =>
      other().exec('CREATE TRIGGER bad AFTER INSERT ON pets BEGIN INSERT INTO nowhere VALUES (1); END'),
    mend: () => other().exec('DROP TRIGGER bad'),
    why: /no such table: main\.nowhere/,
  });
});

t.test('a server on PostgreSQL whose role may no longer INSERT is not ready, and logs the reason once', async (t) => {
  const server = await startPostgres(t);
  await server.execute("CREATE ROLE plain LOGIN PASSWORD 'plain'; GRANT CREATE ON DATABASE postgres TO plain");
  const url = new URL(server.newUrl());
  const { href } = Object.assign(url, { username: 'plain', password: 'plain' });
  const pets = `${schemaOf(href)}.pets`;
  const store = await openPostgresUrl(href, {}, 60_000);
  await check(t, {
    store,
    breakCreates: () => server.execute(`REVOKE INSERT ON ${pets} FROM plain`),
    mend: () => server.execute(`GRANT INSERT ON ${pets} TO plain`),
    why: /permission denied for table pets/,
  });
});
