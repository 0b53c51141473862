import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { Settings } from '../../../src/contract-first/engine/services.ts';
import { checkStart } from '../../../src/contract-first/operate/commands/check.ts';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { type Database, parseDatabaseUrl } from '../../../src/contract-first/store/database-url.ts';
import { openStore } from '../../../src/contract-first/store/open-store.ts';
import { Sqlite } from '../../../src/contract-first/store/sqlite/sqlite.ts';
import type { Migrated } from '../../../src/contract-first/store/store.ts';
import { loadMigrations } from '../../../src/contract-first/store/tables/migrations.ts';
import { domain } from '../../../src/generated/domain.ts';
import { handlers } from '../../../src/generated/handlers.ts';
import { service } from '../../../src/generated/service.ts';
import { openUrl } from '../../database.ts';
import { startPostgres } from '../../postgres.ts';
import { startProgram, startServer } from '../../program.ts';
import { KEY } from '../../service.ts';

/** Runs `--check` as a program, in its own process. */
async function runCheck(t: Test, env: Record<string, string>) {
  const { exit, output } = startProgram(t, 'src/main.ts', { args: ['--check'], env, isCovered: true });
  return { code: await exit, ...output };
}

/** Runs the same check in this process. */
async function check(env: Record<string, string>, leastFree?: number, settings: Settings = {}) {
  const lines: string[] = [];
  const isRight = await checkStart(env, (text) => lines.push(text), { ...service, settings }, leastFree);
  return { code: isRight ? 0 : 1, stdout: lines.join('\n') };
}

/** Returns the state of a folder: the names, times and contents of its files. */
const stateOf = (folder: string) =>
  readdirSync(folder).map((name) => {
    const file = `${folder}/${name}`;
    return [name, statSync(file).mtimeMs, createHash('sha256').update(readFileSync(file)).digest('hex')];
  });

t.test('`--check` prints the settings that a start would use, without secrets, and changes nothing', async (t) => {
  const folder = t.testdir();
  const missing = await runCheck(t, { DATABASE_URL: `sqlite:${folder}/new/pets.db`, API_KEYS: KEY, PORT: '8080' });
  t.strictSame([missing.code, missing.stderr], [0, '']);
  t.match(missing.stdout, /^configuration: as follows\n[\s\S]* {2}API_KEYS=\*\*\*\n/);
  t.match(missing.stdout, '\n  PORT=8080\n');
  const count = Object.keys(handlers).length;
  t.match(missing.stdout, new RegExp(`^contract: Pet Store, ${count} operations, digest [0-9a-f]{12}$`, 'm'));
  t.match(missing.stdout, `database: SQLite, ${folder}/new/pets.db: it would be made\n`);
  t.match(missing.stdout, /^disk: \d+ MB are free$/m);
  t.match(missing.stdout, /^keys: 0 stored keys are valid, and 1 of the configuration$/m);
  t.notMatch(missing.stdout, KEY);
  t.strictSame(readdirSync(folder), []);

  const DATABASE_URL = `sqlite:${folder}/pets.db`;
  const store = openUrl(DATABASE_URL);
  await store.createKey(toStoredKey(makeKey('petstore'), 'Ada'));
  await store.createKey(toStoredKey(makeKey('petstore'), 'Ben', new Date(0)));
  await store.close();
  const before = stateOf(folder);
  const there = await check({ DATABASE_URL });
  t.match(there.stdout, /^database: SQLite, \/.*\/pets\.db: version \d+$/m);
  t.match(there.stdout, /^keys: 1 stored keys are valid, and 0 of the configuration$/m);
  t.strictSame(stateOf(folder), before);

  const server = await startServer(t, { env: { DATABASE_URL } });
  const [names, beside] = [readdirSync(folder), await check({ DATABASE_URL })];
  t.equal(beside.code, 0, beside.stdout);
  t.strictSame(readdirSync(folder), names);
  t.equal((await server.request('/v1/pets')).status, 200);
});

t.test('`--check` reports mistakes in settings, database, keys, disk and addresses, and exits with 1', async (t) => {
  const folder = t.testdir({ 'no.db': 'this is no database, and longer than the header of one'.repeat(9) });
  const wrong = await runCheck(t, { DATABASE_URL: `sqlite:${folder}/no.db`, NODE_ENV: 'production' });
  t.strictSame([wrong.code, wrong.stderr], [1, '']);
  t.match(wrong.stdout, /^database: WRONG: file is not a database$/m);

  const unset = await check({ DATABASE_URL: `sqlite:${folder}/new.db`, NODE_ENV: 'production' });
  t.match([unset.code, unset.stdout], [1, /^keys: WRONG: there is none: make one with /m]);
  const first = await check({ DATABASE_URL: 'sqlite::memory:', PORT: 'x', MAX_CREATE: '2' });
  t.match([first.code, first.stdout], [1, /^configuration: WRONG: Wrong configuration:\n {2}- PORT /]);
  const second = await check({ DATABASE_URL: 'sqlite::memory:', MAX_CREATE: '2' });
  t.match([second.code, second.stdout], [0, /^ {2}Warning: MAX_CREATE is not known: is MAX_CREATES meant\?$/m]);
  t.match(second.stdout, /^database: SQLite, in memory: it would be made$/m);
  t.match(second.stdout, /^keys: there is none: one for the run would be made$/m);

  for (const place of [`${folder}/no.db/pets.db`, '/dev/null']) {
    const { code, stdout } = await check({ DATABASE_URL: `sqlite:${place}` });
    t.match([code, stdout], [1, /^disk: WRONG: \S+ is not a (file|folder)$/m], place);
  }
  const memory = { DATABASE_URL: 'sqlite::memory:', PORT: '3000' };
  for (const [env, finding] of [
    [{}, /^addresses: 127\.0\.0\.1:3000$/m],
    [{ ADMIN_PORT: '3001' }, /^addresses: 127\.0\.0\.1:3000, 127\.0\.0\.1:3001 for operators$/m],
    [{ ADMIN_PORT: '3000' }, /^addresses: WRONG: PORT and ADMIN_PORT are both 3000$/m],
    [{ ADMIN_PORT: '3000', HOST: '0.0.0.0' }, /^addresses: WRONG: PORT and ADMIN_PORT are both 3000$/m],
    [{ HOST: '[::1]' }, /^addresses: WRONG: getaddrinfo /m],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, /^traces: OpenTelemetry is installed$/m],
    [{ LISTEN_FDS: '1', LISTEN_PID: String(process.pid) }, /^addresses: the socket that was passed$/m],
  ] as [Record<string, string>, RegExp][]) {
    const { code, stdout } = await check({ ...memory, ...env });
    t.match([code, stdout], [finding.source.includes('WRONG') ? 1 : 0, finding], finding.source);
  }

  const full = await check({ DATABASE_URL: `sqlite:${folder}/a.db` }, 2 ** 60);
  t.match([full.code, full.stdout], [1, /^disk: WRONG: only \d+ bytes are free$/m]);

  const file = `${folder}/pets.db`;
  const store = openUrl(`sqlite:${file}`);
  await store.createKey({ ...toStoredKey(makeKey('petstore'), 'Ada'), revokedAt: new Date().toISOString() });
  await store.close();
  const refusing = await check({ DATABASE_URL: `sqlite:${file}` });
  t.match([refusing.code, refusing.stdout], [0, /^keys: 0 stored keys .*: every caller is refused$/m]);
});

t.test(
  '`--check` reports stored records that do not fit the contract as a start would, and changes nothing',
  async (t) => {
    const folder = t.testdir();
    const DATABASE_URL = `sqlite:${folder}/pets.db`;
    await openUrl(DATABASE_URL).close();
    const execute = (sql: string) => {
      const db = new Sqlite(`${folder}/pets.db`);
      db.exec(sql);
      db.close();
    };
    const env = { DATABASE_URL, API_KEYS: KEY };
    execute("INSERT INTO pets (name, category_id, status) VALUES ('Ada', 7, 'sold')");
    const before = stateOf(folder);
    const { code, stdout } = await check(env);
    t.match([code, stdout], [0, /^records: all fit the contract$/m]);
    t.strictSame(stateOf(folder), before);
    execute("UPDATE pets SET status = 'lost'");
    const wrong = await check(env);
    t.match(
      [wrong.code, wrong.stdout],
      [1, /^records: WRONG: .*\n.*stored pets that do not fit its schema Pet: 1 \(pet 1: status /m],
    );
    execute(
      "DELETE FROM applied_migrations WHERE part = 'pets' AND name = (SELECT max(name) FROM applied_migrations WHERE part = 'pets')",
    );
    t.match((await check(env)).stdout, /^records: checked when the database is migrated$/m);
  },
);

/** Runs the check and a start on the same database. If one fails, the other must fail with the same message. */
async function checkAndOpen(t: Test, DATABASE_URL: string) {
  const { code, stdout } = await check({ DATABASE_URL, API_KEYS: KEY });
  const [, finding = ''] = /^database: (?:WRONG: )?(.*)$/m.exec(stdout) ?? [];
  const migrated: Migrated[] = [];
  const limits = { createTimeout: 60_000, maxCreates: 1000, onMigrated: (one: Migrated) => void migrated.push(one) };
  const opened = Promise.resolve().then(() =>
    openStore(parseDatabaseUrl(DATABASE_URL, 'petstore') as Database, domain, limits),
  );
  const failed = await opened.then(
    (store) => store.close(),
    ({ message }: Error) => message,
  );
  t.equal(failed === undefined, code === 0, `${failed} ${finding}`);
  if (failed) t.ok(failed.includes(finding), `${failed} ${finding}`);
  return { code, finding, migrated: migrated[0] };
}

/** The number of all migrations. */
const to = loadMigrations('sqlite', domain).length;

const NEWER = /^engine\/0999-more\.sql has run, and is not there: start a newer program/;

t.test('if a start on a SQLite database would fail, `--check` fails with the same message', async (t) => {
  const folder = t.testdir({ gone: t.fixture('symlink', 'nowhere/pets.db'), here: t.fixture('symlink', 'there.db') });
  for (const [name, sql, finding] of [
    ['theirs', 'CREATE TABLE notes (text)', /^it has tables of another program, .*: notes$/],
    ['many', 'CREATE TABLE a (b); CREATE TABLE b (b); CREATE TABLE c (b); CREATE TABLE d (b)', /: a, b, c, …$/],
    ['newer', "UPDATE applied_migrations SET name = '0999-more.sql' WHERE name = '0003-records.sql'", NEWER],
  ] as const) {
    if (name === 'newer') await openUrl(`sqlite:${folder}/${name}`).close();
    const db = new Sqlite(`${folder}/${name}`);
    db.exec(sql);
    db.close();
    t.match(await checkAndOpen(t, `sqlite:${folder}/${name}`), { code: 1, finding }, name);
  }
  const gone = `it is a link to ${folder}/nowhere/pets.db, whose folder is not there`;
  t.match(await checkAndOpen(t, `sqlite:${folder}/gone`), { code: 1, finding: gone });
  const finding = `SQLite, ${folder}/here: it would be made`;
  t.match(await checkAndOpen(t, `sqlite:${folder}/here`), { code: 0, finding, migrated: { from: 0, to } });
  t.match(await checkAndOpen(t, `sqlite:${folder}/here`), { code: 0, finding: /: version \d+$/, migrated: undefined });
});

t.test('`--check` fails and prints the reason if the SQLite library cannot be loaded', async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db` };
  const shell = 'export NODE_OPTIONS=--no-addons';
  const { exit, output } = startProgram(t, 'src/main.ts', { args: ['--check'], env, shell });
  t.equal(await exit, 1);
  t.match(output.stdout, /^database: WRONG: .*addons/m);
});

t.test('`--check` prints which migrations a start would run, on SQLite and PostgreSQL', async (t) => {
  const server = await startPostgres(t);
  const file = `${t.testdir()}/pets.db`;
  const url = server.newUrl();
  for (const each of [`sqlite:${file}`, url]) await checkAndOpen(t, each);
  const older = `DROP TABLE idempotency_keys; DROP TABLE passed_check; DROP TABLE deleted_revisions;
    DELETE FROM applied_migrations WHERE name = '0003-records.sql';`;
  const db = new Sqlite(file);
  db.exec(`${older} DROP TABLE record_edits`);
  db.close();
  await (await server.connect(t, url)).query(
    `${older} DROP FUNCTION write_records() CASCADE; DROP FUNCTION note_revisions`,
  );
  const from = to - 1;
  const finding = new RegExp(`: it would be migrated from version ${from} to ${to}, by engine/0003-records.sql$`);
  for (const each of [`sqlite:${file}`, url])
    t.match(await checkAndOpen(t, each), { code: 0, finding, migrated: { from, to } });
});

t.test('if a start on a PostgreSQL database would fail, `--check` fails with the same message', async (t) => {
  const server = await startPostgres(t);
  await server.execute(`CREATE ROLE plain LOGIN PASSWORD 'plain'; CREATE SCHEMA plain; GRANT USAGE ON SCHEMA plain TO plain;
    CREATE SCHEMA theirs; CREATE TABLE theirs.pets (id int); CREATE TABLE theirs.others (id int)`);
  const asPlain = (schema: string) => {
    const url = new URL(server.newUrl(schema));
    return Object.assign(url, { username: 'plain', password: 'plain' }).href;
  };
  for (const [url, finding] of [
    [server.newUrl('theirs'), /^it has tables of another program, .*: pets$/],
    [asPlain('plain'), 'its role may not create tables there: GRANT CREATE ON SCHEMA "plain" TO "plain"'],
    [asPlain('more'), 'its role may not create tables there: GRANT CREATE ON DATABASE "postgres" TO "plain"'],
  ] as const) {
    t.match(await checkAndOpen(t, url), { code: 1, finding }, url);
  }
  await server.execute('GRANT CREATE ON SCHEMA plain TO plain');
  t.match(await checkAndOpen(t, asPlain('plain')), { code: 0, finding: /it would be made$/ });
});

t.test('`--check` creates no schema and no table in PostgreSQL', async (t) => {
  const server = await startPostgres(t);
  const DATABASE_URL = server.newUrl('checked');
  const before = await check({ DATABASE_URL, API_KEYS: KEY });
  t.equal(before.code, 0, before.stdout);
  t.match(before.stdout, `database: PostgreSQL, postgres on 127.0.0.1:${server.port}: it would be made`);
  t.notMatch(before.stdout, server.password);
  t.strictSame((await server.execute("SELECT to_regnamespace('checked') AS made")).rows, [{ made: null }]);
  const running = await startServer(t, { env: { DATABASE_URL } });
  t.match(running.output.stdout, `"from":0,"to":${to},"msg":"the database was made"`);
  t.equal((await running.request('/v1/pets')).status, 200);
  const after = await check({ DATABASE_URL, API_KEYS: KEY });
  t.match(after.stdout, /^database: PostgreSQL, .*: version \d+$/m);
  await server.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
  const latin = await check({ DATABASE_URL: DATABASE_URL.replace('/postgres?', '/latin?') });
  t.match([latin.code, latin.stdout], [1, /^database: WRONG: its encoding is not UTF8$/m]);
  const away = await check({ DATABASE_URL: DATABASE_URL.replace(`:${server.port}/`, ':1/') });
  t.match([away.code, away.stdout], [1, /^database: WRONG: 127\.0\.0\.1:1: .*ECONNREFUSED/m]);
});
