/**
 * Packs the package, installs it outside of the project, and makes services with it: one with the first contract, and
 * one with a third-party contract.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { base, pack, ROOT, run, start, tryRun } from './packed.ts';

const TARBALL = 'contract-first-1.0.0.tgz';

const packed = pack('one');
writeFileSync(join(base, TARBALL), packed.tarball);

t.test('packing the same sources twice makes identical tarballs', async (t) => {
  t.ok(pack('another').tarball.equals(packed.tarball));
});

t.test('the tarball contains the built package, its types and its README, and neither sources nor tests', async (t) => {
  const { files } = packed;
  const folders = new Set(
    files.map((path) =>
      path
        .split('/')
        .slice(0, path.startsWith('dist/') ? 2 : 1)
        .join('/'),
    ),
  );
  t.strictSame([...folders].filter((path) => !path.endsWith('.js') && !path.endsWith('.d.ts')).sort(), [
    ...['CHANGELOG.md', 'README.md', 'bin', 'dist/cli', 'dist/contract', 'dist/engine', 'dist/json', 'dist/operate'],
    ...[
      'dist/start',
      'dist/store',
      'dist/testing',
      'guide',
      'operate',
      'package.json',
      'store',
      'tsconfig.service.json',
    ],
  ]);
  t.strictSame(
    files.filter((path) => /(?<!\.d)\.ts$|\.test\.[jt]s$|\.tsbuildinfo$/.test(path)),
    [],
  );
  for (const path of ['bin/contract-first.js', 'dist/cli/main.js', 'dist/cli/template/common/.gitignore.txt'])
    t.ok(files.includes(path), path);
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'src/contract-first/package.json'), 'utf8'));
  for (const entry of Object.values<string | { types: string; default: string }>(exports))
    for (const path of typeof entry === 'string' ? [entry] : [entry.types, entry.default])
      t.ok(files.includes(path.slice(2)), path);
});

const books = join(base, 'Books');

t.test('`contract-first new` turns an empty folder into a service that stores records', async (t) => {
  mkdirSync(books);
  run(books, 'npm', 'init', '-y');
  run(books, 'npm', 'install', `../${TARBALL}`, '--no-audit', '--no-fund');
  writeFileSync(join(books, '.gitignore'), 'mine\n');
  const said = run(books, 'npx', '--no', '--', 'contract-first', 'new', '.');
  t.match(said, /^package\.json: added private, scripts\.generate, .*overrides\.content-disposition$/m);
  t.match(said, /^package\.json: changed type, scripts\.test$/m);
  t.match(said, /^left {5}\.gitignore, which is there already$/m);
  t.match(said, /^npm install, for the devDependencies …$/m);
  t.match(said, /Go on with:\n( {2}npm .*\n){3}$/);
  for (const [, file = ''] of said.matchAll(/^wrote {4}(.*)$/gm)) t.ok(existsSync(join(books, file)), file);
  t.equal(readFileSync(join(books, '.gitignore'), 'utf8'), 'mine\n');
  t.equal(JSON.parse(readFileSync(join(books, 'package.json'), 'utf8')).name, 'books');

  run(books, 'npm', 'run', 'generate');
  const server = await start(t, books, {}, 'npm', 'start');
  const text = 'Buy milk.';
  t.match(await server.request('/v1/notes', 'POST', { text }), { status: 201, body: { id: 1, text } });
  t.match(await server.request('/v1/notes/1'), { status: 200, body: { id: 1, text } });
  t.match(await server.request('/v1/notes'), { status: 200, body: [{ id: 1, text }] });
  await server.stop();
});

t.test(
  'a service made by `new` passes its types, tests, lint and `generate --check`; running `new` again changes nothing',
  async (t) => {
    for (const args of [['run', 'types'], ['test'], ['run', 'build']]) t.ok(run(books, 'npm', ...args).length >= 0);
    // Headers that the server sends and the contract does not declare are only warnings.
    t.notMatch(run(books, 'npx', '--no', '--', 'contract-first', 'lint'), / error /);
    t.equal(run(books, 'npx', '--no', '--', 'contract-first', 'generate', '--check'), '');
    const said = run(books, 'npx', '--no', '--', 'contract-first', 'new', '.');
    t.notMatch(said, /^(wrote {4}(?!test\/service)|package\.json|npm install)/m);
    const found = JSON.parse(run(books, 'npm', 'ls', 'cookie', 'content-disposition', '--json', '--all'));
    const versions = [...JSON.stringify(found).matchAll(/"(cookie|content-disposition)":\{"version":"(\d+)/g)].map(
      ([, name, major]) => `${name} ${major}`,
    );
    // Newer versions of these packages need Node 22.
    t.strictSame([...new Set(versions)].sort(), ['content-disposition 2', 'cookie 1']);
  },
);

t.test(
  'after its development dependencies are removed, the built service still starts and has its records',
  async (t) => {
    run(books, 'npm', 'install', `../${TARBALL}`, '--no-audit', '--no-fund');
    run(books, 'npm', 'run', 'build');
    run(books, 'npm', 'prune', '--omit=dev', '--no-audit', '--no-fund');
    t.notOk(existsSync(join(books, 'node_modules/typescript')));
    t.equal(run(books, process.execPath, 'dist/src/main.js', '--version'), '1.0.0\n');
    const server = await start(t, books, {}, process.execPath, 'dist/src/main.js');
    t.match(await server.request('/v1/notes/1'), { status: 200, body: { id: 1, text: 'Buy milk.' } });
    await server.stop();
    t.match(tryRun(books, 'npx', '--no', '--', 'contract-first', 'build'), {
      status: 1,
      stderr:
        /^typescript, openapi-typescript, ts-blank-space, @redocly\/openapi-core: not installed\. Run `npm install --save-dev /,
    });
  },
);

t.test(
  '`new` makes a service from a third-party contract: it stores records, and its errors have the form that the contract declares',
  async (t) => {
    const own = join(base, 'own');
    cpSync(join(books, 'node_modules'), join(own, 'node_modules'), { recursive: true, verbatimSymlinks: true });
    writeFileSync(
      join(own, 'package.json'),
      JSON.stringify({ dependencies: { 'contract-first': `file:../${TARBALL}` } }),
    );
    cpSync(join(ROOT, 'test/other-contracts/petstore.yaml'), join(own, 'theirs.yaml'));
    const said = run(own, 'npx', '--no', '--', 'contract-first', 'new', '.', '--contract', 'theirs.yaml');
    t.match(said, /^The contract is written to openapi\/theirs\.yaml/m);
    t.match(said, /^wrote {4}handlers\/showPetById\.ts$/m);
    t.match(said, /^wrote {4}src\/errors\.ts$/m);
    t.notMatch(said, /served|First write|toErrorBody/, 'the table of all operations comes later');
    t.notMatch(
      run(own, 'npx', '--no', '--', 'contract-first', 'lint'),
      /warn/,
      'the lint prints no warning about a third-party contract',
    );
    run(own, 'npm', 'run', 'generate');
    for (const args of [['run', 'types'], ['test']]) t.ok(run(own, 'npm', ...args).length >= 0);
    const server = await start(t, own, {}, 'npm', 'start');
    t.match(await server.request('/v1/pets', 'POST', { id: 7, name: 'Rex' }), { status: 201 });
    t.match(await server.request('/v1/pets/7'), { status: 200, body: { id: 7, name: 'Rex' } });
    t.match(await server.request('/v1/pets/8'), { status: 404, body: { code: 404 } });
    t.match(await server.request('/v1/pets?limit=a'), { status: 400, body: { code: 400 } });
    await server.stop();
  },
);

t.test(
  '`contract-first new` reports a folder that it cannot use, and writes nothing for a contract that it cannot serve',
  async (t) => {
    const own = join(base, 'own');
    const runNew = (cwd: string, ...args: string[]) =>
      tryRun(cwd, join(own, 'node_modules/.bin/contract-first'), 'new', '.', ...args);
    t.match(runNew(base), {
      status: 1,
      stderr: /^Run `npm install` with the tarball of contract-first in \S+ first\.\n$/,
    });
    rmSync(join(own, 'openapi'), { recursive: true });
    const theirs = readFileSync(join(own, 'theirs.yaml'), 'utf8');
    writeFileSync(join(own, 'wrong.yaml'), theirs.replace('in: path', 'in: nowhere'));
    t.match(runNew(own, '--contract', 'wrong.yaml'), {
      status: 1,
      stderr: /^The contract is not served as it is: change it as the table says/m,
    });
    t.notOk(existsSync(join(own, 'openapi')));
  },
);
