/**
 * The name of a service comes from its package.json and is used in keys, files and connections. The engine itself
 * contains no name of a service.
 */
import t from 'tap';
import { buildRegister, buildService } from '../src/contract-first/cli/generate/service-files.ts';
import { loadConfig } from '../src/contract-first/operate/config.ts';
import { openPostgres } from '../src/contract-first/store/postgres/open-postgres.ts';
import type { PostgresSettings } from '../src/contract-first/store/postgres/settings.ts';
import { domain } from '../src/generated/domain.ts';
import { load } from './added-operations.ts';
import { openUrl } from './database.ts';
import { edited } from './edited-contract.ts';
import { runKeys } from './operate/commands/made-keys.ts';
import { startPostgres } from './postgres.ts';
import { readOurs, startService } from './service.ts';

const BOOKS = { name: 'books', scopes: [] };

t.test('an API key begins with the name of its service, so that the log can mask keys in URLs', async (t) => {
  const store = openUrl('sqlite::memory:');
  t.teardown(() => store.close());
  t.match(await runKeys(store, BOOKS, ['create', 'Ada']), /^ {2}books_[0-9a-f]{48}$/m);
  let log = '';
  const { request } = await startService(t, { name: 'books', log: { write: (line: string) => (log += line) } });
  await request('/v1/pets?key=books_0123456789&status=sold');
  await request('/v1/pets?key=pages_0123456789&status=sold');
  t.match(log, '/v1/pets?***&status=sold');
  t.match(log, '/v1/pets?key=pages_0123456789&status=sold');
});

t.test('the SQLite file is named after the service, unless DATABASE_URL names another file', async (t) => {
  t.strictSame(loadConfig({}, BOOKS).database, { kind: 'sqlite', file: 'data/books.db' });
  t.match(loadConfig({ DATABASE_URL: 'sqlite:a.db' }, BOOKS).database, { file: 'a.db' });
});

t.test('a connection to PostgreSQL sends the name of the service as its application_name', async (t) => {
  const server = await startPostgres(t);
  const settings = loadConfig({ DATABASE_URL: server.newUrl() }, BOOKS).database as PostgresSettings;
  const store = await openPostgres(settings, domain, { createTimeout: 60_000, maxCreates: 10_000 }, {}, 60_000);
  t.teardown(() => store.close());
  const { rows } = await server.execute('SELECT DISTINCT application_name AS name FROM pg_stat_activity');
  t.ok(rows.some(({ name }) => name === 'books'));
});

t.test(
  'a service has the name of its package without the npm scope; a name that keys or files cannot contain is an error',
  async (t) => {
    const contract = await readOurs();
    const { text } = buildService(contract, { name: '@acme/books-2', version: "1.0.0-'" }, []);
    t.match(text, `  name: 'books-2',\n  version: '1.0.0-\\u0027',\n`);
    for (const name of [undefined, '', '@acme', 'Books', 'böoks', '.books', 'a/b', "a'b", 'a b', 'x'.repeat(41)]) {
      const message = /^package\.json: the name .* must have at most 40 lowercase letters, /;
      t.throws(() => buildService(contract, name === undefined ? {} : { name }, []), { message }, name ?? 'none');
    }
  },
);

t.test('generated code imports an optional file of a team, such as errors.ts, only if the file exists', async (t) => {
  const contract = await readOurs();
  const bare = buildService(contract, BOOKS, []).text + buildRegister(contract, []).text;
  t.match(bare, "import { toErrorBody } from 'contract-first';");
  const LINES = {
    errors: ["import { toErrorBody } from '../errors.ts';"],
    services: ["import { buildServices, settings } from '../services.ts';", 'services: services.Services;'],
    tokens: ["import { verifyToken } from '../tokens.ts';", 'claims: tokens.Claims;', 'byToken: never;'],
    plugins: ["loadPlugins: () => import('../plugins.ts'),"],
  };
  for (const [name, lines] of Object.entries(LINES)) {
    const present = [name as keyof typeof LINES];
    const text = buildService(contract, BOOKS, present).text + buildRegister(contract, present).text;
    for (const line of lines) t.strictSame([text.includes(line), bare.includes(line)], [true, false], line);
  }
});

t.test('the generated types list the operations for which a token is always needed', async (t) => {
  const TOKEN = { type: 'openIdConnect', openIdConnectUrl: 'https://issuer.example/.well-known/openid-configuration' };
  const contract = await load(
    t,
    edited(({ paths, components }) => {
      Object.assign(components.securitySchemes, { token: TOKEN, key: { type: 'apiKey', in: 'header', name: 'X-Key' } });
      components.headers['WWW-Authenticate'].schema = { type: 'string' };
      paths['/pets'].get.security = [{ token: [] }];
      paths['/pets'].post.security = [{ token: [] }, { key: [] }];
      paths['/pets/{petId}'].get.security = [{ token: [], key: [] }, {}];
    }),
  );
  t.match(buildRegister(contract, ['tokens']).text, "    byToken: 'listPets' | 'getPet';\n");
  t.notMatch(buildRegister(contract, []).text, 'byToken');
});
