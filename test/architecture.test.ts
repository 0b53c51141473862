import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const PACKAGE = 'src/contract-first';

/** The source files of the package's entry points, such as `contract-first/store`. */
const ENTRY_POINTS: Record<string, string> = Object.fromEntries(
  Object.entries<{ 'contract-first-source'?: string }>(
    JSON.parse(readFileSync(join(ROOT, PACKAGE, 'package.json'), 'utf8')).exports,
  ).map(([name, { 'contract-first-source': file = '' }]) => [join('contract-first', name), join(PACKAGE, file)]),
);

/** Returns the files below a folder (`.ts` by default), as paths from the project's root. */
function filesBelow(folder: string, form = /\.ts$/): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).split(sep).join('/'))
    .filter((name) => form.test(name) && !name.startsWith(`${PACKAGE}/dist/`));
}

/**
 * Returns the project's own files that a file imports, also as types. Missing files are skipped: their imports are in a
 * text that the file writes.
 */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const imported = [...text.matchAll(/from '((?:\.|contract-first\b)[^']*)'/g)].map(([, path = '']) =>
    path.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), path)) : (ENTRY_POINTS[path] as string),
  );
  return imported.filter((name) => name !== file && existsSync(join(ROOT, name)));
}

/**
 * For each file or folder of the package, the files and folders that it may import besides itself. The innermost entry
 * applies.
 */
const MAY_IMPORT: Record<string, string> = {
  'run.ts': 'start operate',
  'fastify.ts': 'start service-contract.ts registered.ts operator-error.ts engine operate/config.ts store',
  'service-contract.ts': 'contract engine start/service.ts store',
  'registered.ts': '',
  'operator-error.ts': 'json',
  start: 'engine operate service-contract.ts registered.ts store',
  testing:
    'start/build.ts start/opening.ts service-contract.ts registered.ts start/service.ts engine ' +
    'operate/config.ts store',
  contract: 'contract engine store/tables/description.ts json',
  'contract/checks':
    'engine contract/subsets contract/read/operations.ts contract/read/parameters.ts contract/read/references.ts ' +
    'json/pointer.ts ' +
    'store/cursors.ts store/lists.ts store/tables/description.ts store/tables/table.ts',
  'contract/page':
    'engine/contract engine/docs engine/schema contract/read/normal-form.ts ' +
    'contract/subsets/keyword-subsets.ts json',
  'contract/read': 'engine json',
  'contract/subsets': 'engine/schema json',
  'engine/index.ts': 'engine json registered.ts store',
  'engine/plugin.ts': 'engine registered.ts store',
  'engine/server.ts': 'engine store/api-keys.ts',
  'engine/access':
    'engine/contract/contract.ts engine/request-state.ts engine/errors/catalogue.ts ' +
    'engine/timeout.ts engine/tokens.ts registered.ts store/store.ts store/api-keys.ts ' +
    'store/rates.ts',
  'engine/contract': 'engine/schema json operator-error.ts',
  'engine/docs': 'engine/contract engine/replies/reply-headers.ts',
  'engine/errors': 'registered.ts engine/contract engine/schema/json.ts engine/routes/read-write-only.ts json',
  'engine/http':
    'engine/errors/error-body.ts engine/request-state.ts engine/errors/catalogue.ts ' +
    'engine/services.ts store/collection.ts store/store.ts',
  'engine/replies':
    'engine/contract engine/schema engine/access/challenges.ts engine/errors/catalogue.ts ' +
    'engine/errors/error-body.ts json',
  'engine/request-state.ts':
    'registered.ts engine/errors/catalogue.ts engine/access/caller.ts ' +
    'engine/requests/request-checks.ts store/tables/description.ts',
  'engine/requests':
    'engine/contract engine/schema engine/errors/catalogue.ts engine/errors/problem.ts ' +
    'engine/http/node-internals.ts json',
  'engine/routes':
    'engine/access/auth.ts engine/access/rate-limits.ts engine/contract engine/schema ' +
    'engine/requests engine/replies engine/errors/catalogue.ts engine/errors/error-body.ts ' +
    'engine/request-state.ts json registered.ts store/store.ts ' +
    'store/collection.ts store/tables/description.ts store/tables/record-codec.ts ' +
    'store/changes/transactions.ts',
  'engine/schema': 'engine/errors/problem.ts json',
  'engine/services.ts': 'engine/errors/catalogue.ts engine/timeout.ts store/collection.ts',
  'engine/timeout.ts': 'store/collection.ts',
  'engine/tokens.ts': 'store/collection.ts',
  json: '',
  'operate/commands':
    'operate/config.ts operate/process/one-run-key.ts operate/telemetry/open-telemetry.ts engine json store ' +
    'start/opening.ts start/service.ts',
  'operate/config.ts':
    'operate/variables.ts operator-error.ts engine/services.ts store/rates.ts store/api-keys.ts ' +
    'store/database-url.ts',
  'operate/process':
    'operate/config.ts operate/telemetry engine/contract/contract.ts ' +
    'engine/contract/first-request.ts json engine/http/log/request-log.ts engine/http/health.ts ' +
    'engine/http/server-options.ts engine/errors/catalogue.ts store/store.ts store/api-keys.ts',
  'operate/telemetry':
    'json operator-error.ts engine/errors/catalogue.ts engine/request-state.ts engine/http/log/request-log.ts ' +
    'engine/http/connections/connection.ts engine/http/client-address.ts ' +
    'engine/http/log/logged-urls.ts engine/http/node-internals.ts ' +
    'engine/http/common-headers.ts store/store.ts',
  'operate/variables.ts': '',
  store:
    'json operator-error.ts registered.ts store/sqlite/open-sqlite.ts store/sqlite/migrate.ts ' +
    'store/sqlite/move.ts store/postgres',
  'store/postgres':
    'json store/store.ts store/collection.ts store/build-collection.ts store/cursors.ts ' +
    'store/api-keys.ts store/contents.ts store/changes store/tables',
  'store/sqlite':
    'json store/store.ts store/collection.ts store/build-collection.ts store/cursors.ts ' +
    'store/api-keys.ts store/contents.ts store/changes store/tables',
};

/** Converts a list of names to paths in the package. An empty text is an empty list. */
const ofPackage = (names: string) => names.split(' ').flatMap((name) => (name ? [`${PACKAGE}/${name}`] : []));

/** For each folder of the project, the paths that its files may import. */
const ARROWS: Record<string, string[]> = {
  ...Object.fromEntries(Object.entries(MAY_IMPORT).map(([part, names]) => [`${PACKAGE}/${part}`, ofPackage(names)])),
  handlers: ofPackage('engine/index.ts'),
  'src/main.ts': ofPackage('run.ts'),
  'src/pets': ofPackage('store/index.ts'),
  'src/generated': [
    ...['handlers', 'src/pets'],
    ...ofPackage('engine/index.ts engine/errors/catalogue.ts store/index.ts service-contract.ts run.ts'),
  ],
  [`${PACKAGE}/cli`]: [PACKAGE],
  scripts: ['src'],
  test: ['src', 'handlers', 'scripts/free-port.ts'],
  'test/scripts': ['scripts', 'src', 'test'],
  'test/types': ['src', 'handlers', 'test'],
  'test/mutation': ['src', 'handlers', 'test'],
};

/**
 * Returns the README that lists the files of a folder: the nearest one above it. The README of the package is for its
 * users, and that of `store/postgres` for operators, so the READMEs above these list their files.
 */
function readmeOf(folder: string): string {
  if (folder === PACKAGE) return 'src/README.md';
  const file = `${folder}/README.md`;
  const isNamed = existsSync(join(ROOT, file)) && folder !== `${PACKAGE}/store/postgres`;
  return isNamed ? file : readmeOf(dirname(folder));
}

const isIn = (place: string) => (file: string) => file === place || file.startsWith(`${place}/`);

/** Returns the innermost folder of `ARROWS` that contains a file. */
function folderOf(file: string): string {
  const [folder] = Object.keys(ARROWS)
    .filter((place) => isIn(place)(file))
    .sort((a, b) => b.length - a.length);
  if (!folder) throw new Error(`${file} is in no folder`);
  return folder;
}

t.test(
  'each file imports only from its own folder and from the folders that the list of allowed imports names for it',
  async (t) => {
    for (const file of ['src', 'handlers', 'scripts', 'test'].flatMap((folder) => filesBelow(folder))) {
      const folder = folderOf(file);
      for (const imported of importsOf(file).filter((name) => folderOf(name) !== folder)) {
        t.ok(
          (ARROWS[folder] as string[]).some((place) => isIn(place)(imported)),
          `${file} may import ${imported}`,
        );
      }
    }
  },
);

t.test('every entry of the list of allowed imports is needed by at least one file', async (t) => {
  for (const [part, names] of Object.entries(MAY_IMPORT)) {
    const path = `${PACKAGE}/${part}`;
    const files = path.endsWith('.ts') ? [path] : filesBelow(path);
    const imported = files.filter((file) => folderOf(file) === path).flatMap((file) => importsOf(file));
    for (const name of ofPackage(names)) t.ok(imported.some(isIn(name)), `${part} imports ${name}`);
  }
});

t.test('the README of a folder lists every source file of the folder', async (t) => {
  const sources = filesBelow(PACKAGE, /\.(ts|js)$/).filter((file) => !/\/(node_modules|cli\/template)\//.test(file));
  const named = new Map<string, Set<string>>();
  for (const file of sources) {
    const readme = readmeOf(dirname(file));
    if (!named.has(readme))
      named.set(
        readme,
        new Set(readFileSync(join(ROOT, readme), 'utf8').match(/(?<=[`/])[a-z0-9-]+(\.d)?\.[tj]s(?=[`)])/g)),
      );
    t.ok(named.get(readme)?.has(file.replace(/.*\//, '')), `${readme} names ${file}`);
  }
});

t.test('imports never form a cycle', (t) => {
  const done = new Set<string>();
  function follow(file: string, way: string[]): void {
    t.notOk(way.includes(file), [...way, file].join(' -> '));
    if (done.has(file) || way.includes(file)) return;
    for (const imported of importsOf(file)) follow(imported, [...way, file]);
    done.add(file);
  }
  // Generated files are skipped, because the generated map of handlers imports the handlers, which import its types.
  for (const file of ['src', 'scripts'].flatMap((folder) => filesBelow(folder)))
    if (!file.startsWith('src/generated/')) follow(file, []);
  t.end();
});

t.test('only start.ts and command-table.ts read environment variables', async (t) => {
  const programs = [...filesBelow('src'), ...filesBelow('handlers')].filter((file) => !isIn(`${PACKAGE}/cli`)(file));
  const readers = programs.filter((file) =>
    /process\.env/.test(readFileSync(join(ROOT, file), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '')),
  );
  t.strictSame(readers.sort(), [
    'src/contract-first/operate/commands/command-table.ts',
    'src/contract-first/start/start.ts',
  ]);
});

t.test('only command-line.ts parses the options of the commands', async (t) => {
  const parsers = filesBelow('src').filter((file) =>
    /\bparseArgs\b|\bargv\.includes/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  t.strictSame(parsers, ['src/contract-first/operate/commands/command-line.ts']);
});

t.test('only node-internals.ts uses undocumented parts of Node and its packages', async (t) => {
  const PRIVATE =
    /\._[a-z]|\bparser\b.*\bonIncoming\b|\bdestroySoon = |\bhttpAllowHalfOpen\b|\bshouldKeepAlive\b|\bsymbols\b.*'pino'|\bcloseAllConnections = /;
  const users = [...filesBelow('src'), ...filesBelow('handlers')].filter((file) =>
    PRIVATE.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  t.strictSame(users, ['src/contract-first/engine/http/node-internals.ts']);
});

t.test('every file that creates an HTTP server handles the errors of its sockets', async (t) => {
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

t.test('only prose.ts and html.ts may write HTML without escaping it', async (t) => {
  const writers = filesBelow('src').filter((file) => /\bnew Html\(/.test(readFileSync(join(ROOT, file), 'utf8')));
  t.strictSame(
    writers.sort(),
    ['contract/page/prose', 'engine/docs/html'].map((name) => `src/contract-first/${name}.ts`),
  );
});

t.test('only files of the store and of cli/migration, and files named transactions.ts, contain SQL', async (t) => {
  for (const file of [...filesBelow('src'), ...filesBelow('handlers')].filter(
    (name) => !/^src\/contract-first\/(store|cli\/migration)\//.test(name) && !name.endsWith('/transactions.ts'),
  )) {
    t.notMatch(readFileSync(join(ROOT, file), 'utf8'), /\b(SELECT|INSERT INTO|UPDATE|PRAGMA)\b/, file);
  }
});

t.test('below src/, only the folders pets/ and generated/ mention pets', async (t) => {
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(ts|js|sql|css)$/.test(name) && !/^(pets|generated)\//.test(name),
  );
  for (const name of names) {
    const text = readFileSync(join(ROOT, 'src', name), 'utf8');
    t.notMatch(text, /\bpets?(?![a-z])|Pets?(?![a-z])|_pets?\b|petstore/i, name);
  }
});

t.test('the engine, the tools and the scripts import no file of the pet store', async (t) => {
  const isOfAService = (file: string) => /^(src\/(pets|generated)\/|handlers\/)/.test(file);
  const files = ['src', 'scripts'].flatMap((folder) => filesBelow(folder)).filter((file) => !isOfAService(file));
  for (const file of files) t.notOk(importsOf(file).some(isOfAService), file);
});

/** The packages that the pet store depends on besides contract-first. */
const CHOSEN = [
  ...['@fastify/bearer-auth', '@fastify/swagger', '@fastify/swagger-ui', 'ajv'],
  ...['better-sqlite3', 'fastify', 'fastify-openapi-glue'],
];

t.test(
  "the pet store depends only on contract-first and a fixed list of libraries, in contract-first's version ranges",
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

t.test(
  'the npm scripts for installing, building and starting only call `node`, so that they work in any shell',
  async (t) => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const name of ['preinstall', 'prestart', 'start', 'build', 'dev'])
      t.match(scripts[name], /^node [\w./=-]+( [\w./=-]+)*$/, name);
  },
);

t.test("every operation's handler has a test", async (t) => {
  const names = (folder: string) =>
    filesBelow(folder)
      .map((file) => file.replace(/.*\/|(\.test)?\.ts$/g, ''))
      .sort();
  t.strictSame(names('test/operations'), names('handlers'));
});

t.test(
  'no comment begins with a word such as "What" or "Those", which would hide the subject of the sentence',
  async (t) => {
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
  },
);

t.test('every property test has a fixed seed, so that each run tries the same cases', async (t) => {
  for (const file of filesBelow('test')) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const runs = text.match(/\bfc\s*\.(assert|check|sample)\(/g)?.length ?? 0;
    const seeds = text.match(/\bseed\b[^;\n]*\}/g)?.length ?? 0;
    t.ok(runs <= seeds, `${file} gives each of them a seed`);
  }
});
