/**
 * Upgrades a service to the next version of the package: installs it, generates, and runs old and new version together.
 */
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { base, pack, ROOT, run, start, tryRun } from './packed.ts';
import { startPostgres } from './postgres.ts';

const MIGRATION = () => 'CREATE TABLE of_the_next_version (id INTEGER PRIMARY KEY);\n';
const NEXT = {
  'package.json': (text: string) => text.replace('"version": "1.0.0"', '"version": "1.0.1"'),
  'store/sqlite/migrations/0004-next.sql': MIGRATION,
  'store/postgres/migrations/0004-next.sql': MIGRATION,
};
/**
 * The compiled binding of SQLite is copied from this project to save time. `package.deep.ts` compiles it as an
 * installation does.
 */
const SQLITE = 'node_modules/better-sqlite3';
const { version } = JSON.parse(readFileSync(join(ROOT, SQLITE, 'package.json'), 'utf8')) as { version: string };
function install(folder: string, tarball: string): void {
  const packages = [tarball, `better-sqlite3@${version}`];
  run(folder, 'npm', 'install', ...packages, '--ignore-scripts', '--no-audit', '--no-fund');
  cpSync(join(ROOT, SQLITE, 'build'), join(folder, SQLITE, 'build'), { recursive: true });
}

const old = join(base, 'notes');
const next = join(base, 'next');
mkdirSync(old);
install(old, pack('old').file);
run(old, 'npx', '--no', '--', 'contract-first', 'new', '.');
run(old, 'npm', 'run', 'generate');
run(old, 'npm', 'run', 'build');
cpSync(old, next, { recursive: true, verbatimSymlinks: true });

const PROGRAM = [process.execPath, 'dist/src/main.js'] as const;

/** Starts the old version again, after the new version has migrated the database. */
const startAgain = (url: string) => tryRun(old, 'env', 'PORT=0', `DATABASE_URL=${url}`, ...PROGRAM);
const REFUSED = { status: 1, stderr: /engine\/0004-next\.sql has run, and is not there: start a newer program/ };

t.test('after an upgrade of contract-first, the build fails until `generate` is run again', async (t) => {
  install(next, pack('new', NEXT).file);
  const built = tryRun(next, 'npm', 'run', '--silent', 'build');
  t.match(built, { status: 1, stderr: /1\.0\.0.*npx --no -- contract-first generate/s });
  run(next, 'npm', 'run', 'generate');
  for (const args of [['run', 'build'], ['test']]) t.ok(run(next, 'npm', ...args).length >= 0);
});

t.test('after an upgrade of contract-first, a service answers each request as before the upgrade', async (t) => {
  const answers = async (folder: string) => {
    const { request, stop } = await start(t, folder, { DATABASE_URL: 'sqlite::memory:' }, ...PROGRAM);
    const once = { 'idempotency-key': 'key-of-a-note' };
    const received = [
      await request('/v1/notes', 'POST', { text: 'One' }, once),
      await request('/v1/notes', 'POST', { text: 'One' }, once),
      await request('/v1/notes', 'POST', { text: 'Two' }, once),
      await request('/v1/notes', 'POST', { text: 7, colour: 'red' }),
      await request('/v1/notes/1'),
      await request('/v1/notes/a'),
      await request('/v1/notes/2'),
      await request('/v1/notes?limit=1'),
      await request('/v1/notes?limit=0'),
      await request('/v1/notes', 'GET', undefined, { authorization: 'Bearer of-nobody-at-all' }),
      await request('/v1/unknown'),
    ];
    await stop();
    return received.map(({ status, headers, body }) => {
      const text = JSON.stringify(body).replace(/(?<="createdAt":")[^"]+/g, 'time');
      return { status, text, headers: [...headers].filter(([name]) => !/^(date|x-request-id)$/.test(name)) };
    });
  };
  t.strictSame(await answers(next), await answers(old));
});

t.test('two servers on one PostgreSQL can be upgraded one after the other without a failed request', async (t) => {
  const env = { DATABASE_URL: (await startPostgres(t)).newUrl() };
  const servers = [await start(t, old, env, ...PROGRAM), await start(t, old, env, ...PROGRAM)];
  const failed: unknown[] = [];
  let isOver = false;
  let created = 0;
  /** The servers that a load balancer would use. A server is removed before it stops. */
  const live = [...servers];
  const create = async (client: number) => {
    for (let index = 0; !isOver; index++) {
      const server = live[(client + index) % live.length] as (typeof live)[number];
      const key = { 'idempotency-key': `note-${client}-${index}` };
      const { status, body } = await server.request('/v1/notes', 'POST', { text: `${client} ${index}` }, key);
      if (status === 201) created++;
      else failed.push(body);
    }
  };
  const clients = [0, 1, 2, 3].map(create);
  await wait(500);
  for (const server of servers) {
    live.push(await start(t, next, env, ...PROGRAM));
    live.splice(live.indexOf(server), 1);
    await server.stop();
  }
  await wait(500);
  isOver = true;
  await Promise.all(clients);
  t.strictSame(failed, []);
  let stored = 0;
  for (let path = '/v1/notes?limit=100'; path; ) {
    const { body, headers } = await (live[0] as (typeof live)[number]).request(path);
    stored += body.length;
    path = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
  }
  t.equal(stored, created);
  t.match(startAgain(env.DATABASE_URL), REFUSED);
});

t.test(
  'an older version of a service does not start on a SQLite database that a newer version has migrated',
  async (t) => {
    const DATABASE_URL = `sqlite:${join(base, 'notes.db')}`;
    for (const folder of [old, next]) await (await start(t, folder, { DATABASE_URL }, ...PROGRAM)).stop();
    t.match(startAgain(DATABASE_URL), REFUSED);
  },
);
