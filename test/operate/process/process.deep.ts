import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { migrateSqlite } from '../../../src/contract-first/store/sqlite/migrate.ts';
import { Sqlite } from '../../../src/contract-first/store/sqlite/sqlite.ts';
import { domain } from '../../../src/generated/domain.ts';
import { type ProgramOptions, startProgram, startServer } from '../../program.ts';
import { KEY } from '../../service.ts';

/** Starts the server with settings with which it must end. Returns its exit code and output. */
async function startInVain(t: Test, options: ProgramOptions) {
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY, ...options.env };
  const program = startProgram(t, 'src/main.ts', { ...options, env });
  return { code: await program.exit, ...program.output };
}

t.test('in production, a start without an API key fails, and the command in the error creates a key', async (t) => {
  const folder = t.testdir();
  const env = { NODE_ENV: 'production', API_KEYS: '', DATABASE_URL: `sqlite:${folder}/pets.db` };
  const { code, stdout, stderr } = await startInVain(t, { env });
  t.equal(code, 1);
  t.equal(stdout, '');
  const [, file, ...command] =
    /^No API key is configured\. Make one with `node dist\/(.+)\.js (\w+) (\w+) <name>`, .*\n$/.exec(
      stderr,
    ) as RegExpExecArray;
  t.strictSame(readdirSync(folder), [], 'no database is created');
  t.equal(await startProgram(t, `${file}.ts`, { args: [...command, 'Ada'], env }).exit, 0);
  await startServer(t, { env });
});

t.test('if the SQLite file is not a database, the start fails and prints one line with the reason', async (t) => {
  const folder = t.testdir({ 'pets.db': 'This is no database, whatever its name says.' });
  t.strictSame(await startInVain(t, { env: { DATABASE_URL: `sqlite:${folder}/pets.db` } }), {
    code: 1,
    stdout: '',
    stderr: `The database ${folder}/pets.db cannot be used: file is not a database.\n`,
  });
});

t.test('if stored pets do not fit the contract, the start fails and prints the number of such pets', async (t) => {
  const file = `${t.testdir()}/pets.db`;
  const db = new Sqlite(file);
  migrateSqlite(db, domain);
  db.exec(
    "INSERT INTO pets (name, category_id, status) VALUES ('Ada', 7, 'lost'), ('Bob', 7, 'sold'), ('', 7, 'lost')",
  );
  db.close();
  const { code, stderr } = await startInVain(t, { env: { DATABASE_URL: `sqlite:${file}` } });
  t.equal(code, 1);
  t.equal(
    stderr,
    `The contract cannot be served:
  - stored pets that do not fit its schema Pet: 2 (pet 1: status must be one of available, pending, sold); \
correct them, or undo the edit of the contract
`,
  );
});

/** Makes a copy of the project to edit. */
function copyProject(t: Test): string {
  const root = t.testdir();
  for (const name of ['src', 'handlers', 'openapi', 'scripts', 'package.json', 'tsconfig.json']) {
    cpSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), `${root}/${name}`, { recursive: true });
  }
  return root;
}

/** Removes the lines of progress, which the build prints every four seconds. */
const withoutProgress = (text: string) => text.replace(/^(The|Checking) .* …( \d+ s)?\n/gm, '');

t.test('the build reports each operation without a handler, and each handler without an operation', async (t) => {
  const root = copyProject(t);
  renameSync(`${root}/handlers/listPets.ts`, `${root}/handlers/listAnimals.ts`);
  renameSync(`${root}/handlers/getPet.ts`, `${root}/handlers/fetchPet.ts`);
  const build = startProgram(t, 'src/contract-first/cli/main.ts', { root, args: ['build'] });
  t.equal(await build.exit, 1);
  const { stdout, stderr } = build.output;
  t.strictSame(
    { stdout, stderr: withoutProgress(stderr) },
    {
      stdout: '',
      stderr: `operation listPets has no handlers/listPets.ts
operation getPet has no handlers/getPet.ts
handlers/fetchPet.ts has no operation fetchPet in the contract
handlers/listAnimals.ts has no operation listAnimals in the contract
`,
    },
  );
});

t.test('if the contract cannot be served, the start fails and prints one line for each problem', async (t) => {
  const root = copyProject(t);
  const env = { DATABASE_URL: `sqlite:${root}/data/pets.db` };
  const yaml = readFileSync(`${root}/openapi/petstore.yaml`, 'utf8');
  const startWith = async (text: string) => {
    writeFileSync(`${root}/openapi/petstore.yaml`, text);
    return startInVain(t, { root, env });
  };
  const { code, stderr } = await startWith(yaml.replace('scheme: bearer', 'scheme: digest'));
  t.equal(code, 1);
  t.match(
    stderr,
    /^The contract cannot be served:\n {2}- (\S+\/)?openapi\/petstore\.yaml:\d+:5: security scheme bearerAuth: only bearer tokens/,
  );
  const generate = startProgram(t, 'src/contract-first/cli/main.ts', { root, args: ['generate'] });
  t.equal(await generate.exit, 1);
  t.match(
    withoutProgress(generate.output.stderr),
    /^openapi\/petstore\.yaml:\d+:5: security scheme bearerAuth: only bearer tokens[^\n]*\n$/,
  );
  t.notOk(existsSync(`${root}/data`), 'the start has created no folder');
});

t.test('if a bug in the program stops the start, the error is printed with its stack', async (t) => {
  const shell = 'export NODE_OPTIONS="$NODE_OPTIONS --disallow-code-generation-from-strings"';
  const { code, stderr } = await startInVain(t, { shell });
  t.equal(code, 1);
  t.match(stderr, /EvalError: Code generation from strings disallowed/);
  t.match(stderr, /\n {4}at /);
});

t.test('SIGBUS and SIGSEGV end the server immediately', async (t) => {
  for (const fault of ['SIGBUS', 'SIGSEGV'] as const) {
    const { child, exit } = await startServer(t, {});
    child.kill(fault);
    t.equal(await exit, fault);
  }
});

t.test('after a graceful stop or a crash, a restarted server has all pets with the same ids', async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/data/pets.db` };
  const names: string[] = [];
  for (const end of ['SIGTERM', 'SIGKILL', 'SIGINT'] as const) {
    const server = await startServer(t, { env });
    names.push(`added before ${end}`);
    await server.request('/v1/pets', { method: 'POST', body: { name: names.at(-1), categoryId: 7 } });
    const { body } = await server.request('/v1/pets');
    t.strictSame(
      body,
      names.map((name, index) => ({ id: index + 1, name, categoryId: 7 })),
    );
    server.child.kill(end);
    t.equal(await server.exit, end === 'SIGKILL' ? end : 0);
  }
});
