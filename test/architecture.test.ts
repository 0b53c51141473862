import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const PACKAGE = 'src/contract-first';

/** The files of the package's entry points: `contract-first/store`. */
const ENTRY_POINTS: Record<string, string> = Object.fromEntries(
  Object.entries<{ 'contract-first-source'?: string }>(
    JSON.parse(readFileSync(join(ROOT, PACKAGE, 'package.json'), 'utf8')).exports,
  ).map(([name, { 'contract-first-source': file = '' }]) => [join('contract-first', name), join(PACKAGE, file)]),
);

/** The files below a folder, TypeScript by default, by their paths from the project's root. */
function filesBelow(folder: string, form = /\.ts$/): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).split(sep).join('/'))
    .filter((name) => form.test(name) && !name.startsWith(`${PACKAGE}/dist/`));
}

/** The project's own files that a file imports, types too. A file that does not exist is named in a text that the file writes. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const imported = [...text.matchAll(/from '((?:\.|contract-first\b)[^']*)'/g)].map(([, path = '']) =>
    path.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), path)) : (ENTRY_POINTS[path] as string),
  );
  return imported.filter((name) => name !== file && existsSync(join(ROOT, name)));
}

/** Files of the package. */
const ofPackage = (names: string) => names.split(' ').map((name) => `${PACKAGE}/${name}`);

const OF_EACH_STORE = [
  ...ofPackage('json store/store.ts store/collection.ts store/description.ts store/table.ts store/record-codec.ts'),
  ...ofPackage('store/values.ts store/changes.ts store/batches.ts store/build-collection.ts store/statement.ts'),
  ...ofPackage('store/transactions.ts store/lists.ts store/api-keys.ts store/queue.ts store/migrations.ts'),
  ...ofPackage('store/migrate.ts store/contents.ts'),
];

/** The folders whose README says what their files may import. */
const FOLDERS = [...['contract', 'engine', 'operate', 'store', ''].map((name) => join(PACKAGE, name)), 'src']
  .flatMap((parent) => readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`))
  .filter((folder) => existsSync(join(ROOT, folder, 'README.md')) && mayImportOf(folder));

/** The files and folders after "May import:" in the README of a folder. */
function mayImportOf(folder: string): string[] | undefined {
  const line = /^May import: ([\s\S]*?)\.\n\n/m.exec(readFileSync(join(ROOT, folder, 'README.md'), 'utf8'))?.[1];
  return line === undefined ? undefined : [...line.matchAll(/`([^`]+)`/g)].map(([, place = '']) => place);
}

/** What the files of each folder may import from other folders. */
const ARROWS: Record<string, string[]> = {
  ...Object.fromEntries(FOLDERS.map((folder) => [folder, mayImportOf(folder)])),
  handlers: ofPackage('engine/index.ts'),
  'src/main.ts': ofPackage('run.ts'),
  [`${PACKAGE}/run.ts`]: ofPackage('start.ts service.ts operate'),
  [`${PACKAGE}/service.ts`]: ofPackage('engine registered.ts store'),
  [`${PACKAGE}/build.ts`]: ofPackage('opening.ts service.ts engine operate'),
  [`${PACKAGE}/fastify.ts`]: ofPackage(
    'build.ts opening.ts service-contract.ts service.ts registered.ts operator-error.ts engine operate/config.ts store',
  ),
  [`${PACKAGE}/opening.ts`]: ofPackage('engine operate/config.ts service-contract.ts service.ts store'),
  [`${PACKAGE}/service-contract.ts`]: ofPackage('contract engine service.ts store'),
  [`${PACKAGE}/start.ts`]: ofPackage('build.ts opening.ts service.ts engine operate store'),
  [`${PACKAGE}/engine/problem.ts`]: ofPackage('json'),
  [`${PACKAGE}/registered.ts`]: [],
  [`${PACKAGE}/engine/errors.ts`]: ofPackage('registered.ts engine/problem.ts'),
  [`${PACKAGE}/engine/index.ts`]: ofPackage('json engine registered.ts store/collection.ts store/description.ts'),
  [`${PACKAGE}/engine/server.ts`]: ofPackage('engine store/api-keys.ts'),
  [`${PACKAGE}/engine/plugin.ts`]: ofPackage('registered.ts engine store'),
  [`${PACKAGE}/engine/request-state.ts`]: ofPackage(
    'registered.ts engine/errors.ts engine/access/caller.ts engine/requests/request-checks.ts store/description.ts',
  ),
  [`${PACKAGE}/engine/error-body.ts`]: ofPackage(
    'registered.ts engine/errors.ts engine/problem.ts engine/contract engine/schema/json.ts engine/routes/read-write-only.ts',
  ),
  [`${PACKAGE}/operate/variables.ts`]: [],
  [`${PACKAGE}/operate/config.ts`]: ofPackage(
    'operate/variables.ts operator-error.ts engine/services.ts store/rates.ts store/database-url.ts',
  ),
  [`${PACKAGE}/engine/tokens.ts`]: ofPackage('store/collection.ts'),
  [`${PACKAGE}/engine/timeout.ts`]: ofPackage('store/collection.ts'),
  [`${PACKAGE}/engine/services.ts`]: ofPackage('engine/errors.ts engine/timeout.ts store/collection.ts'),
  [`${PACKAGE}/operator-error.ts`]: ofPackage('json'),
  [`${PACKAGE}/store/sqlite`]: OF_EACH_STORE,
  [`${PACKAGE}/store/postgres`]: OF_EACH_STORE,
  'src/generated': [
    ...['handlers', 'src/pets'],
    ...ofPackage('engine/index.ts engine/errors.ts store/index.ts service-contract.ts run.ts'),
  ],
  [`${PACKAGE}/cli`]: [PACKAGE],
  scripts: ['src'],
  test: ['src', 'handlers', 'scripts/free-port.ts'],
  'test/scripts': ['scripts', 'src', 'test'],
  'test/types': ['src', 'handlers', 'test'],
  'test/mutation': [...['src', 'handlers', 'test']],
};

const isIn = (place: string) => (file: string) => file === place || file.startsWith(`${place}/`);

/** The innermost folder of the table that a file is in. */
function folderOf(file: string): string {
  const [folder] = Object.keys(ARROWS)
    .filter((place) => isIn(place)(file))
    .sort((a, b) => b.length - a.length);
  if (!folder) throw new Error(`${file} is in no folder`);
  return folder;
}

t.test('imports follow the arrows', async (t) => {
  for (const file of ['src', 'handlers', 'scripts', 'test'].flatMap((folder) => filesBelow(folder))) {
    const folder = folderOf(file);
    for (const imported of importsOf(file).filter((name) => folderOf(name) !== folder)) {
      t.ok(
        (ARROWS[folder] as string[]).some((place) => isIn(place)(imported)),
        `${file} may import ${imported}`,
      );
    }
  }
});

t.test('the README of a folder names each of its files, and what they import', async (t) => {
  for (const folder of FOLDERS) {
    const text = readFileSync(join(ROOT, folder, 'README.md'), 'utf8');
    const named = new Set(text.match(/(?<=[`/])[a-z0-9-]+\.ts(?=[`)])/g));
    for (const file of readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.ts')))
      t.ok(named.has(file), `${folder}/README.md names ${file}`);
    const imported = filesBelow(folder).flatMap((file) => importsOf(file));
    for (const place of mayImportOf(folder) ?? []) t.ok(imported.some(isIn(place)), `${folder}/README.md: ${place}`);
  }
});

t.test('no files import each other in a circle', (t) => {
  const done = new Set<string>();
  function follow(file: string, way: string[]): void {
    t.notOk(way.includes(file), [...way, file].join(' -> '));
    if (done.has(file) || way.includes(file)) return;
    for (const imported of importsOf(file)) follow(imported, [...way, file]);
    done.add(file);
  }
  // Handlers are generated into a map that the routes' types know.
  for (const file of ['src', 'scripts'].flatMap((folder) => filesBelow(folder)))
    if (!file.startsWith('src/generated/')) follow(file, []);
  t.end();
});

t.test('only the configuration reads the environment', async (t) => {
  const programs = [...filesBelow('src'), ...filesBelow('handlers')].filter((file) => !isIn(`${PACKAGE}/cli`)(file));
  const readers = programs.filter((file) =>
    /process\.env/.test(readFileSync(join(ROOT, file), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '')),
  );
  t.strictSame(readers.sort(), ['src/contract-first/operate/commands/program.ts', 'src/contract-first/start.ts']);
});

t.test('what is private of Node and its modules stands in one file', async (t) => {
  const PRIVATE =
    /\._[a-z]|\bparser\b.*\bonIncoming\b|\bdestroySoon = |\bhttpAllowHalfOpen\b|\bshouldKeepAlive\b|\bsymbols\b.*'pino'|\bcloseAllConnections = /;
  const users = [...filesBelow('src'), ...filesBelow('handlers')].filter((file) =>
    PRIVATE.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  t.strictSame(users, ['src/contract-first/engine/http/node-internals.ts']);
});

t.test('whatever makes a server listens for the errors of its sockets', async (t) => {
  const makers = filesBelow('src').filter((file) =>
    /\b(createServer|fastify)\(/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  t.strictSame(makers.sort(), [
    'src/contract-first/engine/http/connections/listening.ts',
    'src/contract-first/engine/http/server-options.ts',
    'src/contract-first/operate/telemetry/operators.ts',
  ]);
  for (const file of makers) t.match(readFileSync(join(ROOT, file), 'utf8'), /\bhearErrors\(/, file);
});

t.test('HTML that is not escaped is written in few files', async (t) => {
  const writers = filesBelow('src').filter((file) => /\bnew Html\(/.test(readFileSync(join(ROOT, file), 'utf8')));
  t.strictSame(
    writers.sort(),
    ['contract/docs/prose', 'engine/docs/html'].map((name) => `src/contract-first/${name}.ts`),
  );
});

t.test('SQL is written in the store, and in what a domain reads, only', async (t) => {
  for (const file of [...filesBelow('src'), ...filesBelow('handlers')].filter(
    (name) => !name.startsWith('src/contract-first/store/') && !name.endsWith('/transactions.ts'),
  )) {
    t.notMatch(readFileSync(join(ROOT, file), 'utf8'), /\b(SELECT|INSERT INTO|UPDATE|PRAGMA)\b/, file);
  }
});

t.test('the engine knows no pets and no pet store: only their own folder and the generated files do', async (t) => {
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(ts|js|sql|css)$/.test(name) && !/^(pets|generated)\//.test(name),
  );
  for (const name of names) {
    const text = readFileSync(join(ROOT, 'src', name), 'utf8');
    t.notMatch(text, /\bpets?(?![a-z])|Pets?(?![a-z])|_pets?\b|petstore/i, name);
  }
});

t.test('the engine and its tools import nothing that a service has written', async (t) => {
  const isOfAService = (file: string) => /^(src\/(pets|generated)\/|handlers\/)/.test(file);
  const files = ['src', 'scripts'].flatMap((folder) => filesBelow(folder)).filter((file) => !isOfAService(file));
  for (const file of files) t.notOk(importsOf(file).some(isOfAService), file);
});

/** The packages that the pet store has chosen itself. */
const CHOSEN = [
  ...['@fastify/bearer-auth', '@fastify/swagger', '@fastify/swagger-ui', 'ajv'],
  ...['better-sqlite3', 'fastify', 'fastify-openapi-glue'],
];

t.test(
  'the pet store depends on the package, and on what it has chosen itself in the ranges of the package',
  async (t) => {
    const read = (folder: string) => JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const [own, engine] = [read('.'), read(PACKAGE)];
    t.strictSame(Object.keys(own.dependencies).sort(), [...CHOSEN, 'contract-first'].sort());
    for (const name of CHOSEN) t.equal(own.dependencies[name], engine.dependencies[name], name);
    for (const [name, range] of Object.entries(engine.devDependencies)) t.equal(own.devDependencies[name], range, name);
    t.match(own.devDependencies, { tap: String });
    t.equal(own.dependencies['contract-first'], `^${engine.version}`);
  },
);

t.test('an installation and a start need no shell of one system', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  for (const name of ['preinstall', 'prestart', 'start', 'build', 'dev'])
    t.match(scripts[name], /^node [\w./=-]+( [\w./=-]+)*$/, name);
});

t.test('each operation has a test of its handler', async (t) => {
  const names = (folder: string) =>
    filesBelow(folder)
      .map((file) => file.replace(/.*\/|(\.test)?\.ts$/g, ''))
      .sort();
  t.strictSame(names('test/operations'), names('handlers'));
});

t.test('a comment names its subject: none begins in the middle of a thought', async (t) => {
  const written = ['src', 'handlers', 'scripts', 'openapi'].flatMap((folder) =>
    filesBelow(folder, /\.(ts|js|sql|lua)$/),
  );
  for (const file of written) {
    t.notMatch(
      readFileSync(join(ROOT, file), 'utf8'),
      /(\/\*\*|^ *\*|\/\/|^ *--) (What|Those|That of|That a|The same|Whose)\b/m,
      file,
    );
  }
});

t.test('properties are tried on the same cases in each run', async (t) => {
  for (const file of filesBelow('test')) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const runs = text.match(/\bfc\s*\.(assert|check|sample)\(/g)?.length ?? 0;
    const seeds = text.match(/\bseed\b[^;\n]*\}/g)?.length ?? 0;
    t.ok(runs <= seeds, `${file} gives each of them a seed`);
  }
});
