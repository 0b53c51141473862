/** The command `contract-first`: its subcommands, its exit codes and its error messages. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { NODE_ARGS, startProgram } from '../program.ts';

const PACKAGE = fileURLToPath(new URL('../../src/contract-first/', import.meta.url));
const { version, engines, devDependencies } = JSON.parse(readFileSync(`${PACKAGE}package.json`, 'utf8'));

const runNode = (cwd: string, ...args: string[]) =>
  spawnSync(process.execPath, args, { cwd, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } });
const runIn = (cwd: string, ...args: string[]) => runNode(cwd, ...NODE_ARGS, `${PACKAGE}cli/main.ts`, ...args);
const run = (...args: string[]) => runIn(PACKAGE, ...args);

const COMMANDS = [
  'new',
  'generate',
  'migration',
  'build',
  'dev',
  'test',
  'lint',
  'diff',
  'release',
  'sandbox',
  'inspect',
];

/** Makes a folder outside of the project, where Node finds none of the project's packages. */
function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'contract-first-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

t.test('`contract-first` lists all commands, and `--help` after a command prints its usage', (t) => {
  for (const args of [[], ['--help'], ['-h']]) {
    const { status, stdout, stderr } = run(...args);
    t.strictSame({ status, stderr }, { status: 0, stderr: '' });
    t.strictSame(
      [...stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name),
      COMMANDS,
    );
  }
  for (const name of COMMANDS)
    t.match(run(name, '--help'), { status: 0, stdout: new RegExp(`^Usage: npx --no -- contract-first ${name}\\b`) });
  const readme = readFileSync(`${PACKAGE}README.md`, 'utf8');
  for (const name of COMMANDS) t.match(readme, new RegExp(`^\\| \`${name}\\b`, 'm'), `the README has ${name}`);
  t.end();
});

t.test('a command with a wrong argument prints its usage on standard error and exits with 2', (t) => {
  for (const [args, said] of [
    [['nothing'], /^There is no command nothing\.\nUsage: npx --no -- contract-first COMMAND/],
    [['toString'], /^There is no command toString\./],
    [['inspect'], /^Usage: npx --no -- contract-first inspect FILE\|URL \[--write OUT\]\n/],
    [['inspect', 'a.yaml', 'b.yaml'], /^Usage: .* inspect/],
    [['diff', 'a', 'b', 'c'], /^Usage: .* diff/],
    [['build', '--fast'], /^Usage: npx --no -- contract-first build\n/],
    [['new'], /^Usage: .* new \. /],
  ] as [string[], RegExp][])
    t.match(run(...args), { status: 2, stdout: '', stderr: said }, args.join(' '));
  t.end();
});

t.test('a command that finds problems exits with 1, and a command that finds none exits with 0', (t) => {
  const root = join(PACKAGE, '../..');
  t.match(runIn(root, 'diff'), { status: 0, stdout: /no change/ });
  t.match(runIn(root, 'diff', 'none.yaml'), { status: 1, stderr: /^none\.yaml cannot be read/ });
  t.match(runIn(root, 'release'), { status: 1, stderr: /^1\.0\.0 is released already/ });
  t.match(runIn(root, 'inspect', 'openapi/petstore.yaml'), { status: 0, stdout: /createPet/ });
  t.match(runIn(root, 'inspect', 'none.yaml'), { status: 1, stdout: /^none\.yaml/ });
  t.end();
});

t.test('before the first release, `diff` prints that nothing is released; `release` creates the folder', (t) => {
  const folder = t.testdir();
  const root = join(PACKAGE, '../..');
  const files = ['openapi/petstore.yaml', `${folder}/released`];
  t.strictSame(runIn(root, 'diff', ...files).status, 0);
  t.strictSame(readdirSync(folder), []);
  t.strictSame(runIn(root, 'release', ...files).stdout, `Released: ${folder}/released/1.0.0.yaml\n`);
  t.match(
    readFileSync(`${folder}/CHANGELOG.md`, 'utf8'),
    /Written by `contract-first release`[\s\S]*The first release/,
  );
  t.end();
});

t.test('if Node.js is too old, `contract-first` prints one line with the needed version and exits with 1', (t) => {
  const fake = "Object.defineProperty(process.versions, 'node', { value: '20.11.1' })";
  const bin = `${PACKAGE}bin/contract-first.js`;
  t.equal(engines.node, '>=20.12');
  const { status, stdout, stderr } = runNode(PACKAGE, `--import=data:text/javascript,${fake}`, bin, 'lint');
  const reported = 'contract-first needs Node.js 20.12 or newer, and this is 20.11.1.\n';
  t.strictSame({ status, stdout, stderr }, { status: 1, stdout: '', stderr: reported });
  t.end();
});

t.test("if a tool's package is not installed, `generate` prints the npm command that installs it", (t) => {
  const folder = makeFolder(t);
  cpSync(`${process.env.TEST_PROGRAM}/node_modules`, `${folder}/node_modules`, { recursive: true });
  const main = `${folder}/node_modules/contract-first/dist/cli/main.js`;
  const { status, stderr } = runNode(folder, main, 'generate');
  const names = ['typescript', 'openapi-typescript', 'ts-blank-space', '@redocly/openapi-core'];
  const wanted = names.map((name) => `"${name}@${devDependencies[name]}"`).join(' ');
  const reported = `${names.join(', ')}: not installed. Run \`npm install --save-dev ${wanted}\`.\n`;
  t.strictSame({ status, stderr }, { status: 1, stderr: reported });
  symlinkSync(join(PACKAGE, '../../node_modules/typescript'), `${folder}/node_modules/typescript`);
  t.match(
    runNode(folder, main, 'generate').stderr,
    /^openapi-typescript, ts-blank-space, @redocly\/openapi-core: not installed\./,
  );
  t.match(runNode(folder, main, 'lint').stderr, /^@redocly\/openapi-core, ts-blank-space: not installed\./);
  t.end();
});

t.test('`build` prints how to install typescript, even if the module loader throws only its name', (t) => {
  const hook = `export const resolve = (name, context, next) => { if (name === 'typescript') throw name; return next(name, context); };`;
  const text = `import { register } from 'node:module'; register('data:text/javascript,${encodeURIComponent(hook).replaceAll("'", '%27')}');`;
  const args = [`--import=data:text/javascript,${encodeURIComponent(text)}`, `${PACKAGE}cli/main.ts`, 'build'];
  const { status, stderr } = runNode(t.testdir(), ...NODE_ARGS, ...args);
  const reported = `typescript: not installed. Run \`npm install --save-dev "typescript@${devDependencies.typescript}"\`.\n`;
  t.strictSame({ status, stderr }, { status: 1, stderr: reported });
  t.end();
});

t.test('if a contract in several files needs a bundler that is missing, `sandbox` names its package', (t) => {
  const hook = `export const resolve = (name, context, next) => { if (name === '@redocly/openapi-core') throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' }); return next(name, context); };`;
  const text = `import { register } from 'node:module'; register('data:text/javascript,${encodeURIComponent(hook).replaceAll("'", '%27')}');`;
  const contract = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/a': { $ref: 'a.json' } } };
  const folder = t.testdir({ 'many.json': JSON.stringify(contract), 'a.json': '{}' });
  const args = [`--import=data:text/javascript,${encodeURIComponent(text)}`, `${PACKAGE}cli/main.ts`];
  const { status, stderr } = runNode(folder, ...NODE_ARGS, ...args, 'sandbox', 'many.json');
  t.equal(status, 1);
  t.match(stderr, /^many\.json refers to other files, which a bundler reads\. @redocly\/openapi-core: not installed\./);
  t.end();
});

t.test('if the contract cannot be read or served, `new` prints the reason and writes nothing', (t) => {
  const folder = t.testdir({ 'package.json': '{"dependencies":{"contract-first":"1.0.0"}}' });
  const CONTRACTS: [contract: string | undefined, said: RegExp][] = [
    [undefined, /^theirs\.yaml cannot be read: /],
    ['', /it is empty/],
    ['openapi: "3.1.0"\ninfo: {title: x, version: "1"}\npaths: [', /theirs\.yaml:\d/],
    ['swagger: "2.0"\npaths: {}', /it is OpenAPI 2\.0/],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, /more than 200 objects and lists are nested/],
    [
      '{openapi: 3.1.0, info: {title: x, version: "1"}, paths: {/a: {get: {parameters: [{name: b, in: nowhere, schema: {}}]}}}}',
      /^the contract +refused: .*in must be one of query, header, path, cookie$/m,
    ],
  ];
  for (const [contract, said] of CONTRACTS) {
    if (contract !== undefined) writeFileSync(`${folder}/theirs.yaml`, contract);
    const before = readFileSync(`${folder}/package.json`, 'utf8');
    const { status, stdout, stderr } = runIn(folder, 'new', '.', '--contract', `${folder}/theirs.yaml`);
    t.equal(status, 1);
    t.match(stdout + stderr, said, contract?.slice(0, 60) ?? 'a missing file');
    t.match(stderr, /Nothing was written\.\n$/);
    t.notMatch(stdout + stderr, / {4}at /, 'the output contains no stack');
    t.strictSame(
      [readFileSync(`${folder}/package.json`, 'utf8'), readdirSync(folder).filter((file) => file !== 'theirs.yaml')],
      [before, ['package.json']],
    );
  }
  t.end();
});

t.test("`new` writes nothing if the package's name is unfit as a prefix of API keys and files", (t) => {
  const long = JSON.stringify({ name: 'a'.repeat(41), dependencies: { 'contract-first': '1.0.0' } });
  const folder = t.testdir({ 'package.json': long, 'theirs.yaml': '' });
  const { status, stderr } = runIn(folder, 'new', '.', '--contract', `${folder}/theirs.yaml`);
  t.equal(status, 1);
  t.match(stderr, /^package\.json: the name "a{41}" must have at most 40 .*\nNothing was written\.\n$/);
  t.strictSame(readdirSync(folder).sort(), ['package.json', 'theirs.yaml']);
  t.end();
});

t.test('`new` in a folder without the package prints how to install it; a `lint` that crashes prints a stack', (t) => {
  const folder = t.testdir({ 'package.json': '{', empty: {} });
  const reported = `Run \`npm install\` with the tarball of contract-first in ${folder}/empty first.\n`;
  t.match(runIn(folder, 'new', 'empty'), { status: 1, stdout: '', stderr: reported });
  t.match(runIn(folder, 'lint'), { status: 1, stderr: /JSON[^\n]*\n {4}at / });
  t.end();
});

t.test('if files were generated by another version of the package, the commands ask to generate them again', (t) => {
  const folder = t.testdir({
    'package.json': '{"name":"books"}',
    openapi: { 'books.yaml': readFileSync(join(PACKAGE, '../../openapi/petstore.yaml')) },
    src: {
      generated: {
        'domain.ts': '// Made from openapi/books.yaml by contract-first 0.9.3: `npm run generate`. Never edited.\n',
      },
    },
  });
  const reported = `src/generated is made by contract-first 0.9.3, and this is ${version}: run \`npx --no -- contract-first generate\`.\n`;
  for (const args of [['generate', '--check'], ['test']])
    t.match(runIn(folder, ...args), { status: 1, stderr: reported });
  // The exit code is 1, because handlers are missing without which no server would start.
  t.match(runIn(folder, 'generate'), { status: 1, stderr: /^operation listPets has no handlers\/listPets\.ts$/m });
  t.match(readFileSync(`${folder}/src/generated/domain.ts`, 'utf8'), `by contract-first ${version}: `);
  t.match(runIn(folder, 'generate', '--check').stderr, /^operation listPets has no/m);
  t.end();
});

t.test(
  '`contract-first test` runs all files of test/ or the named ones; it fails if a test fails or there are none',
  (t) => {
    const good = "import { test } from 'node:test';\nconst word: string = 'good';\ntest(word, () => {});\n";
    const folder = t.testdir({ 'package.json': '{"type":"module"}' });
    t.match(runIn(folder, 'test'), {
      status: 1,
      stderr: 'No tests found: add one to test/, such as test/books.test.ts.\n',
    });
    const filled = t.testdir({
      'package.json': '{"type":"module"}',
      test: {
        'one.test.ts': good,
        deeper: { 'two.test.ts': good.replace('() => {}', "() => { throw new Error('two') }") },
      },
    });
    t.match(runIn(filled, 'test'), { status: 1, stdout: /pass 1\n[\s\S]*fail 1\n/ });
    t.match(runIn(filled, 'test', 'test/one.test.ts'), { status: 0, stdout: /pass 1\n/ });
    // Depending on its version, Node counts a file without a matching test as skipped, as passed, or not at all.
    t.match(runIn(filled, 'test', '--test-name-pattern=none'), { status: 0, stdout: /fail 0\n/ });
    t.end();
  },
);

t.test('`sandbox` serves the contract until it gets SIGINT or SIGTERM', async (t) => {
  const root = makeFolder(t);
  cpSync(new URL('../other-contracts/petstore.yaml', import.meta.url), join(root, 'petstore.yaml'));
  const args = ['sandbox', 'petstore.yaml', '--port', '0'];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { child, written, exit } = startProgram(t, `${PACKAGE}cli/main.ts`, { args, root, isCovered: true });
    const [, docs = ''] = await written('stdout', /Documentation, to read and try: (\S+)[\s\S]*Ctrl\+C ends it/);
    t.equal((await fetch(docs)).status, 200);
    child.kill(signal);
    t.equal(await exit, 0);
  }
  t.strictSame(readdirSync(root), ['petstore.yaml']);
});

t.test('if `sandbox` cannot read the contract, it prints one line with the file and exits with 1', async (t) => {
  const { status, stderr } = runIn(makeFolder(t), 'sandbox', 'none.yaml');
  t.equal(status, 1);
  t.match(stderr, /none\.yaml/);
  t.notMatch(stderr, /\n {4}at /);
});
