import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** By which file a team's own files import a wing: `#engine`. */
const DOORS: Record<string, string> = Object.fromEntries(
  ['engine', 'store'].map((wing) => [`#${wing}`, `src/${wing}/index.ts`]),
);

/** The files below a folder, TypeScript by default, by their paths from the project's root. */
function filesBelow(folder: string, form = /\.ts$/): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).split(sep).join('/'))
    .filter((name) => form.test(name));
}

/** The project's own files that a file imports, types too. A file that does not exist is named in a text that the file writes. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const imported = [...text.matchAll(/from '([.#][^']+)'/g)].map(([, path = '']) =>
    path.startsWith('#') ? (DOORS[path] as string) : relative(ROOT, join(ROOT, dirname(file), path)),
  );
  return imported.filter((name) => existsSync(join(ROOT, name)));
}

const OF_EACH_STORE = [
  'src/json',
  ...[
    'store',
    'collection',
    'counts',
    'description',
    'table',
    'cursors',
    'shape',
    'values',
    'write',
    'changes',
    'build-collection',
    'asking',
    'kept',
    'transactions',
    'statement',
    'key-rows',
    'lists',
    'trial',
    'queue',
    'columns',
    'migrations',
    'texts',
    'moving',
  ].map((name) => `src/store/${name}.ts`),
];

/** The folders whose README says what their files may import. */
const ROOMS = ['src/engine', 'src/operate', 'src']
  .flatMap((wing) => readdirSync(join(ROOT, wing)).map((name) => `${wing}/${name}`))
  .filter((room) => existsSync(join(ROOT, room, 'README.md')) && mayImportOf(room));

/** The files and folders after "May import:" in the README of a room. */
function mayImportOf(room: string): string[] | undefined {
  const line = /^May import: ([\s\S]*?)\.\n\n/m.exec(readFileSync(join(ROOT, room, 'README.md'), 'utf8'))?.[1];
  return line === undefined ? undefined : [...line.matchAll(/`([^`]+)`/g)].map(([, place = '']) => place);
}

/** What the files of each room may import from other rooms. */
const ARROWS: Record<string, string[]> = {
  ...Object.fromEntries(ROOMS.map((room) => [room, mayImportOf(room)])),
  handlers: ['src/engine/index.ts'],
  'src/main.ts': ['src/run.ts'],
  'src/run.ts': ['src/start.ts', 'src/service.ts', 'src/operate/process/signals.ts'],
  'src/service.ts': ['src/engine', 'src/registered.ts', 'src/store'],
  'src/own-contract.ts': ['src/engine', 'src/service.ts', 'src/store'],
  'src/build.ts': [
    ...['opening', 'own-contract', 'service'].map((name) => `src/${name}.ts`),
    ...['engine', 'operate'].map((wing) => `src/${wing}`),
  ],
  'src/contract-first.ts': [
    ...['opening', 'own-contract', 'service', 'registered', 'operator-error'].map((name) => `src/${name}.ts`),
    ...['src/engine', 'src/operate/config.ts', 'src/store'],
  ],
  'src/opening.ts': ['src/engine', 'src/service.ts', 'src/store'],
  'src/start.ts': [
    'src/build.ts',
    'src/opening.ts',
    'src/service.ts',
    ...['engine', 'operate', 'store'].map((wing) => `src/${wing}`),
  ],
  'src/operate/variables.ts': [],
  'src/operate/config.ts': [
    'src/operate/variables.ts',
    'src/operator-error.ts',
    'src/engine/services.ts',
    'src/store/rate.ts',
    'src/store/database-url.ts',
    'src/store/store.ts',
  ],
  'src/engine/problem.ts': ['src/json'],
  'src/registered.ts': [],
  'src/engine/errors.ts': ['src/registered.ts', 'src/engine/problem.ts'],
  'src/engine/index.ts': ['src/json', 'src/engine', 'src/store/collection.ts', 'src/store/description.ts'],
  'src/engine/server.ts': ['src/engine'],
  'src/engine/plugin.ts': ['src/registered.ts', ...['engine', 'store'].map((wing) => `src/${wing}`)],
  'src/engine/request-state.ts': [
    'src/registered.ts',
    'src/engine/errors.ts',
    'src/engine/access/caller.ts',
    'src/engine/requests/checks.ts',
    'src/store/description.ts',
  ],
  'src/plugins.ts': [],
  'src/services.ts': ['src/engine/services.ts'],
  'src/tokens.ts': ['src/engine/tokens.ts'],
  'src/errors.ts': ['src/engine/error-body.ts'],
  'src/engine/error-body.ts': [
    'src/registered.ts',
    'src/engine/errors.ts',
    'src/engine/problem.ts',
    'src/engine/routes/directed.ts',
  ],
  'src/engine/tokens.ts': ['src/store/collection.ts'],
  'src/engine/services.ts': ['src/engine/errors.ts', 'src/store/collection.ts'],
  'src/operator-error.ts': ['src/json'],
  'src/store': [
    'src/operator-error.ts',
    'src/json',
    'src/registered.ts',
    'src/store/sqlite/open-sqlite.ts',
    'src/store/sqlite/inspection.ts',
    'src/store/sqlite/contents.ts',
    'src/store/postgres',
  ],
  'src/store/sqlite': OF_EACH_STORE,
  'src/store/postgres': OF_EACH_STORE,
  'src/generated': [
    'handlers',
    'src/engine/index.ts',
    'src/engine/errors.ts',
    'src/store/index.ts',
    'src/pets',
    'src/own-contract.ts',
    ...['errors', 'plugins', 'service', 'services', 'tokens'].map((name) => `src/${name}.ts`),
  ],
  scripts: ['src'],
  test: ['src', 'handlers', 'scripts/free-port.ts'],
  'test/scripts': ['scripts', 'src', 'test'],
  'test/types': ['scripts/contract-types.ts', 'scripts/handlers-map.ts', 'src', 'handlers', 'test'],
  'test/mutation': [
    ...['src', 'handlers', 'test', 'scripts/contract-types.ts', 'scripts/contract-lint.ts'],
    'scripts/contract-diff/contracts.ts',
  ],
};

const isIn = (place: string) => (file: string) => file === place || file.startsWith(`${place}/`);

/** The innermost room of the table that a file is in. */
function roomOf(file: string): string {
  const [room] = Object.keys(ARROWS)
    .filter((place) => isIn(place)(file))
    .sort((a, b) => b.length - a.length);
  if (!room) throw new Error(`${file} is in no room`);
  return room;
}

t.test('imports follow the arrows', async (t) => {
  for (const file of ['src', 'handlers', 'scripts', 'test'].flatMap((folder) => filesBelow(folder))) {
    const room = roomOf(file);
    for (const imported of importsOf(file).filter((name) => roomOf(name) !== room)) {
      t.ok(
        (ARROWS[room] as string[]).some((place) => isIn(place)(imported)),
        `${file} may import ${imported}`,
      );
    }
  }
});

t.test('the README of a room names each of its files, and what it may import is there', async (t) => {
  for (const room of ROOMS) {
    const text = readFileSync(join(ROOT, room, 'README.md'), 'utf8');
    const named = new Set(text.match(/(?<=[`/])[a-z0-9-]+\.ts(?=[`)])/g));
    for (const file of readdirSync(join(ROOT, room)).filter((name) => name.endsWith('.ts')))
      t.ok(named.has(file), `${room}/README.md names ${file}`);
    for (const place of mayImportOf(room) ?? []) t.ok(existsSync(join(ROOT, place)), `${room}/README.md: ${place}`);
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
  for (const file of filesBelow('src').filter((name) => !name.startsWith('src/generated/'))) follow(file, []);
  t.end();
});

t.test('only the configuration reads the environment', async (t) => {
  const readers = [...filesBelow('src'), ...filesBelow('handlers')].filter((file) =>
    /process\.env/.test(readFileSync(join(ROOT, file), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '')),
  );
  t.strictSame(readers.sort(), [
    ...['backup', 'keys', 'move', 'restore'].map((name) => `src/operate/cli/${name}.ts`),
    'src/start.ts',
  ]);
});

t.test('what is private of Node and its modules stands in one file', async (t) => {
  const PRIVATE =
    /\._[a-z]|\bparser\b.*\bonIncoming\b|\bdestroySoon = |\bhttpAllowHalfOpen\b|\bshouldKeepAlive\b|\bsymbols\b.*'pino'|\bcloseAllConnections = /;
  const users = [...filesBelow('src'), ...filesBelow('handlers')].filter((file) =>
    PRIVATE.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  t.strictSame(users, ['src/engine/http/node-internals.ts']);
});

t.test('whatever makes a server listens for the errors of its sockets', async (t) => {
  const makers = filesBelow('src').filter((file) =>
    /\b(createServer|fastify)\(/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  t.strictSame(makers.sort(), [
    'src/engine/http/listening.ts',
    'src/engine/http/server-options.ts',
    'src/operate/telemetry/operators.ts',
  ]);
  for (const file of makers) t.match(readFileSync(join(ROOT, file), 'utf8'), /\bhearErrors\(/, file);
});

t.test('HTML that is not escaped is written in few files', async (t) => {
  const writers = filesBelow('src').filter((file) => /\bnew Html\(/.test(readFileSync(join(ROOT, file), 'utf8')));
  t.strictSame(
    writers.sort(),
    ['curl', 'html', 'prose'].map((name) => `src/engine/docs/${name}.ts`),
  );
});

t.test('SQL is written in the store, and in what a domain reads, only', async (t) => {
  for (const file of [...filesBelow('src'), ...filesBelow('handlers')].filter(
    (name) => !name.startsWith('src/store/') && !name.endsWith('/transactions.ts'),
  )) {
    t.notMatch(readFileSync(join(ROOT, file), 'utf8'), /\b(SELECT|INSERT INTO|UPDATE|PRAGMA)\b/, file);
  }
});

t.test('the engine knows no pets: only their own folder and the generated files do', async (t) => {
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(ts|js|sql)$/.test(name) && !/^(pets|generated)\//.test(name),
  );
  for (const name of names) {
    const text = readFileSync(join(ROOT, 'src', name), 'utf8').replaceAll(/petstore/gi, '');
    t.notMatch(text, /\bpets?(?![a-z])|Pets?(?![a-z])|_pets?\b/i, name);
  }
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
