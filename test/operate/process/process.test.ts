import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { runAlone, TARGET } from '../../../src/contract-first/store/sqlite/migrate.ts';
import { Sqlite } from '../../../src/contract-first/store/sqlite/sqlite.ts';
import { runMigrations } from '../../../src/contract-first/store/tables/migrate.ts';
import { loadMigrations } from '../../../src/contract-first/store/tables/migrations.ts';
import { domain } from '../../../src/generated/domain.ts';
import { type ProgramOptions, startProgram, startServer } from '../../program.ts';
import { KEY } from '../../service.ts';

/** Starts the server with settings with which it must end. Returns its exit code and output. */
async function startInVain(t: Test, options: ProgramOptions) {
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY, ...options.env };
  const program = startProgram(t, 'src/main.ts', { ...options, env, isCovered: true });
  return { code: await program.exit, ...program.output };
}

t.test('a start without API keys prints a temporary key and a working curl command, but logs no key', async (t) => {
  const server = await startServer(t, { env: { API_KEYS: '' }, isCovered: true });
  const [line, key] = await server.written(
    'stderr',
    /curl -i[\s\S]*?'Authorization: Bearer (petstore_[0-9a-f]{48})'[\s\S]*?'http:.*'/,
  );
  const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent --show-error`]);
  t.match(stdout, /^HTTP\/1\.1 201 [\s\S]*"id":1,"name":"Rex"/);
  t.equal((await server.request('/v1/pets', { key: KEY })).status, 401);
  t.notMatch(server.output.stdout, key as string);
  t.match(server.output.stderr, `http://127.0.0.1:${server.port}/docs`);
});

t.test('if an environment variable is misspelt, the log names the variable, but not its value', async (t) => {
  const server = await startServer(t, { env: { MAX_CREATE: '4321' }, isCovered: true });
  const [line] = await server.written('stdout', /.*MAX_CREATE is not known: is MAX_CREATES meant\?.*/);
  t.notMatch(line, '4321');
  server.child.kill('SIGTERM');
  t.match(await server.exit, 0);
});

t.test('an unknown command prints all commands and exits with 2, and no server starts', async (t) => {
  const folder = t.testdir();
  for (const [args, reported] of [
    [['--chek'], /^There is no command --chek\.\nUsage: node dist\/src\/main\.js .*\n\n {2}--check .*\n {2}--version /],
    [[''], /^There is no command \.\n/],
    [['toString'], /^There is no command toString\.\n/],
    [['--check', 'x'], /^Usage: node dist\/src\/main\.js --check\n/],
    [['--version', 'x'], /^Usage: node dist\/src\/main\.js --version\n/],
    [['keys'], /^Usage: .* keys create <name> .*\n[\s\S]*Usage: .* keys revoke <id>\n/],
  ] as const) {
    const env = { DATABASE_URL: `sqlite:${folder}/pets.db` };
    const { exit, output } = startProgram(t, 'src/main.ts', { args: [...args], env, isCovered: true });
    t.equal(await exit, 2);
    t.equal(output.stdout, '');
    t.match(output.stderr, reported);
  }
  t.strictSame(readdirSync(folder), []);
});

t.test('`--help` lists the commands; `--help` after a command prints its usage and does not run it', async (t) => {
  const folder = t.testdir();
  const env = { DATABASE_URL: `sqlite:${folder}/pets.db` };
  for (const [args, reported] of [
    [['--help'], /^Usage: node dist\/src\/main\.js .*\n\n( {2}[a-z-]+ ([a-z]+)? +\w.*\n){9}\n/],
    [['keys', 'create', 'Ada', '--help'], /^Usage: node dist\/src\/main\.js keys create <name> /],
    [['keys', '--help'], / keys list \[--json\]\n/],
    [['move', '--help'], / move <source> <target>\n.*pets and keys/],
    [['backup', '--help'], / backup <file>\n/],
    [['restore', '--help'], / restore <file>\n/],
    [['--check', '--help'], / --check\n/],
    [['--version', '--help'], / --version\n/],
  ] as const) {
    const { exit, output } = startProgram(t, 'src/main.ts', { args: [...args], env, isCovered: true });
    t.equal(await exit, 0);
    t.equal(output.stderr, '');
    t.match(output.stdout, reported);
  }
  t.strictSame(readdirSync(folder), []);
});

t.test('`--version` prints the version and starts no server', async (t) => {
  const folder = t.testdir();
  const env = { DATABASE_URL: `sqlite:${folder}/pets.db` };
  const { exit, output } = startProgram(t, 'src/main.ts', { args: ['--version'], env, isCovered: true });
  t.equal(await exit, 0);
  t.strictSame(output, { stdout: '1.0.0\n', stderr: '' });
  t.strictSame(readdirSync(folder), []);
});

t.test('if several environment variables are wrong, the start fails and names all of them', async (t) => {
  const { code, stdout, stderr } = await startInVain(t, {
    env: { PORT: 'http', LOG_LEVEL: 'loud', API_KEYS: 'short' },
  });
  t.equal(code, 1);
  t.equal(stdout, '');
  for (const name of ['PORT', 'LOG_LEVEL', 'API_KEYS']) t.match(stderr, `  - ${name}`);
  t.notMatch(stderr, 'short ');
  t.notMatch(stderr, /\n {4}at /);
});

t.test('if the database has no index for a filter, the start warns and prints the index to add', async (t) => {
  const file = `${t.testdir()}/pets.db`;
  const db = new Sqlite(file);
  runAlone(db, runMigrations(TARGET, loadMigrations('sqlite', domain)));
  db.exec('DROP INDEX pets_by_status');
  db.close();
  const server = await startServer(t, { env: { DATABASE_URL: `sqlite:${file}` }, isCovered: true });
  const [line] = /^.*for lack of an index.*$/m.exec(server.output.stdout) as RegExpExecArray;
  t.match(JSON.parse(line), {
    level: 40,
    msg: 'lists of pets filtered by status read the whole table, for lack of an index: CREATE INDEX pets_by_status ON pets (status, id)',
  });
  server.child.kill('SIGTERM');
  t.equal(await server.exit, 0);
});

t.test('a start migrates the database of an older version of the service, and logs both versions', async (t) => {
  const file = `${t.testdir()}/pets.db`;
  const files = loadMigrations('sqlite', domain);
  const last = files.findLast(({ part }) => part === 'engine');
  const db = new Sqlite(file);
  const before = files.filter((one) => one !== last);
  runAlone(db, runMigrations(TARGET, before));
  db.close();
  const server = await startServer(t, { env: { DATABASE_URL: `sqlite:${file}` }, isCovered: true });
  const to = files.length;
  t.match(server.output.stdout, `"from":${to - 1},"to":${to},"msg":"the database was migrated"`);
  server.child.kill('SIGTERM');
  t.equal(await server.exit, 0);
});

t.test('if the port is in use, the start fails with one line, and creates no database', async (t) => {
  const folder = t.testdir();
  const DATABASE_URL = `sqlite:${folder}/pets.db`;
  const other = createServer().listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const PORT = String((other.address() as AddressInfo).port);
  const { code, stdout, stderr } = await startInVain(t, { env: { PORT, DATABASE_URL } });
  t.equal(code, 1);
  t.equal(stdout, '');
  t.equal(
    stderr,
    `Cannot listen: listen EADDRINUSE: address already in use 127.0.0.1:${PORT}. Set HOST or PORT to another.\n`,
  );
  t.strictSame(readdirSync(folder), []);
  const refused = await startInVain(t, { env: { NODE_ENV: 'production', API_KEYS: '', DATABASE_URL } });
  t.match(refused, { code: 1, stderr: /^No API key is configured\. Make one with / });
  t.strictSame(readdirSync(folder), []);
  const db = new Sqlite(`${folder}/pets.db`);
  runAlone(db, runMigrations(TARGET, loadMigrations('sqlite', domain)));
  db.close();
  t.match(await startInVain(t, { env: { PORT, DATABASE_URL } }), { code: 1, stderr });
  t.strictSame(readdirSync(folder), ['pets.db'], 'an existing database is closed without a write-ahead log');
});

t.test('an uncaught error is logged and stops the server gracefully, with exit code 1', async (t) => {
  const folder = t.testdir();
  const env = { PORT: '0', DATABASE_URL: `sqlite:${folder}/pets.db` };
  const program = startProgram(t, 'src/main.ts', { env, isCovered: true });
  program.child.stderr?.destroy();
  t.equal(await program.exit, 1);
  const lines = program.output.stdout.trim().split('\n');
  // The lines are sorted by their time, because a fatal line may be written before lines that are still buffered.
  t.match(
    lines.map((line) => JSON.parse(line)).sort((a, b) => a.time - b.time || a.level - b.level),
    [
      { msg: 'the database was made' },
      { msg: 'listening' },
      { level: 60, msg: 'stopping after an error', err: { code: 'EPIPE' } },
      { msg: 'stopped' },
    ],
  );
  t.strictSame(readdirSync(folder), ['pets.db']);
});
