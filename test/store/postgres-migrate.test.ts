import t, { type Test } from 'tap';
import { toStoredKey } from '../../src/contract-first/store/api-keys.ts';
import type { Fields, Put } from '../../src/contract-first/store/collection.ts';
import { toCursor } from '../../src/contract-first/store/cursors.ts';
import { drive } from '../../src/contract-first/store/postgres/drive.ts';
import { buildMigrationTarget } from '../../src/contract-first/store/postgres/migrate.ts';
import { openPostgres } from '../../src/contract-first/store/postgres/open-postgres.ts';
import { buildConnect } from '../../src/contract-first/store/postgres/primary.ts';
import { runMigrations } from '../../src/contract-first/store/tables/migrate.ts';
import { loadMigrations } from '../../src/contract-first/store/tables/migrations.ts';
import { domain } from '../../src/generated/domain.ts';
import { LIMITS, listPets, type NewPet, type OwnStore, valuesOf } from '../database.ts';
import { prepareNotes } from '../notes.ts';
import { toShop } from '../orders/shops.ts';
import { openPostgresUrl, schemaOf, settingsOf, startPostgres } from '../postgres.ts';

const REX: NewPet = { name: 'Rex', categoryId: 7n };
/** The timeout of calls in milliseconds, long enough for a busy machine. */
const TIMEOUT = 60_000;
/** A migration of the next version of the program, which only adds columns and indexes. */
const NEXT = `
  ALTER TABLE pets ADD COLUMN color text NOT NULL DEFAULT 'brown';
  CREATE INDEX pets_by_color ON pets (color, id);
  ALTER TABLE api_keys ADD COLUMN scope text;
  CREATE TABLE owners (id bigint PRIMARY KEY);`;

const NEWER = new Error('pets/0002-added.sql has run, and is not there: start a newer program, or put the file back');

const server = await startPostgres(t);

async function open(t: Test, url: string): Promise<OwnStore> {
  const store = await openPostgresUrl(url, {}, TIMEOUT);
  t.teardown(() => store.close());
  return store;
}

/** Runs these migrations like the start of a new version. */
async function migrateWith(
  url: string,
  added: string[],
  timeouts?: Parameters<typeof buildMigrationTarget>[1],
): Promise<void> {
  const files = added.map((sql, index) => ({ part: 'pets', name: `000${index + 2}-added.sql`, digest: sql, sql }));
  const connection = await buildConnect(settingsOf(url))({ toConnect: TIMEOUT, toAnswer: TIMEOUT });
  const all = [...loadMigrations('postgres', domain), ...files];
  await drive(connection, runMigrations(buildMigrationTarget(schemaOf(url), timeouts), all)).finally(() =>
    connection.end(),
  );
}

t.test('ten servers that start at the same time on an empty database migrate it once', async (t) => {
  const url = server.newUrl('Größe "1" %');
  const stores = await Promise.all(Array.from({ length: 10 }, () => open(t, url)));
  const pets = await Promise.all(stores.map((store) => store.records.create(REX)));
  t.strictSame(new Set(pets.map(({ id }) => id)).size, 10);
});

t.test(
  'if a PostgreSQL schema has tables of an earlier layout or another program, the start fails and changes nothing',
  async (t) => {
    const url = server.newUrl();
    const schema = schemaOf(url);
    await server.execute(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.schema_versions (part text, version int);
    CREATE TABLE ${schema}.api_keys (id text)`);
    await t.rejects(open(t, url), /has tables of another program, or of a version before the first release/);
    await server.execute(`DROP TABLE ${schema}.schema_versions, ${schema}.api_keys`);
    await (await open(t, url)).close();
    await server.execute(`UPDATE ${schema}.applied_migrations SET part = 'books' WHERE part = 'pets'`);
    await t.rejects(open(t, url), /^books\/0001-pets\.sql has run, and is not there: start a newer program/);
  },
);

t.test(
  'a server keeps working while a newer version migrates its database, but cannot start again afterwards',
  async (t) => {
    const url = server.newUrl();
    const store = await open(t, url);
    const { id } = await store.records.create(REX);
    const text = `{"id":${id},"name":"Rex","categoryId":7}`;

    let isOver = false;
    const use = async () => {
      for (let count = 0; !isOver || count < 10; count++) {
        t.equal((await store.records.get(id))?.text, text);
        await store.records.create({ ...REX, status: 'sold' });
      }
    };
    const used = use();
    await migrateWith(url, [NEXT]);
    isOver = true;
    await used;

    // After its connections are killed, the old program also works on new ones.
    await server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petstore'");
    t.equal((await listPets(store, { limit: 1 })).body.text, `[${text}]`);
    t.equal(
      (await listPets(store, { limit: 1, status: 'sold' })).next,
      toCursor(id + 1n, valuesOf({ status: 'sold' })),
    );
    await store.check();
    const version = (await store.readKeys()).version;
    await store.createKey(toStoredKey('key', 'Ada'));
    t.not((await store.readKeys()).version, version);
    t.match(await store.listKeys(), [{ name: 'Ada' }]);
    t.equal(await store.countInvalidRecords('another contract', () => true), 0);

    await t.rejects(open(t, url), NEWER);
  },
);

t.test('if a migration fails, the error names it, and the database stays unchanged', async (t) => {
  const url = server.newUrl();
  const store = await open(t, url);
  for (const [sql, why] of [
    ['ALTER TABLE nowhere ADD x int', 'relation "nowhere" does not exist'],
    ["DO $$ BEGIN RAISE 'too large' USING ERRCODE = '53100'; END $$", 'too large'],
  ] as const)
    await t.rejects(migrateWith(url, [NEXT, sql]), new Error(`pets/0003-added.sql: ${why}`));
  t.ok(await store.records.create(REX));
  await open(t, url);
});

t.test('if another program migrates the database for too long, the start gives up and reports this', async (t) => {
  const url = server.newUrl();
  const other = await server.connect(t, url);
  const turn = 'pg_advisory_lock(hashtextextended($1, 0))';
  await other.query(`SELECT ${turn}`, [`contract-first migrations ${schemaOf(url)}`]);
  await t.rejects(
    migrateWith(url, [], { migration: 100, table: 500 }),
    new Error('another program has migrated it for 100 ms: see pg_locks'),
  );
  const opened = open(t, url);
  await other.query('SELECT pg_advisory_unlock_all()');
  t.ok(await (await opened).records.create(REX));
});

t.test('a start without pending migrations does not wait for another program that migrates', async (t) => {
  const url = server.newUrl();
  await open(t, url);
  const other = await server.connect(t, url);
  const turn = 'pg_advisory_lock(hashtextextended($1, 0))';
  await other.query(`SELECT ${turn}`, [`contract-first migrations ${schemaOf(url)}`]);
  t.ok(await (await open(t, url)).records.create(REX));
});

t.test(
  'if PostgreSQL does not answer in time while a server starts, the start fails and gives the reason',
  async (t) => {
    const url = server.newUrl();
    await open(t, url);
    const other = await server.connect(t, url);
    await other.query('BEGIN; LOCK TABLE applied_migrations');
    await t.rejects(openPostgresUrl(url, {}, TIMEOUT, 2000), {
      cause: { message: /canceling statement due to statement timeout/ },
    });
  },
);

t.test('a connection through a pooler whose role has no statement timeout is an error', async (t) => {
  const connect = buildConnect(settingsOf(server.newUrl()));
  await t.rejects(connect({ toConnect: TIMEOUT, toAnswer: 0 }), /ALTER ROLE … SET statement_timeout/);
});

t.test(
  'a migration gives up soon if its table is locked, because other statements would have to wait for it',
  async (t) => {
    const url = server.newUrl();
    const store = await open(t, url);
    const other = await server.connect(t, url);
    await other.query('BEGIN; SELECT FROM pets');
    await t.rejects(
      migrateWith(url, [NEXT]),
      new Error('pets/0002-added.sql: it needs a lock that another session has: see pg_locks'),
    );
    t.ok(await store.records.create(REX));
    await other.query('COMMIT');
    await migrateWith(url, [NEXT]);
  },
);

/** Starts versions of the service of notes on the same PostgreSQL schema. */
function prepare(t: Test) {
  const settings = settingsOf(server.newUrl());
  return prepareNotes(t, async (domain = {}, made = {}) => {
    const store = await openPostgres(settings, domain, LIMITS, made, TIMEOUT);
    t.teardown(() => store.close());
    return toShop(store);
  });
}

t.test('after a migration that changes no record that clients see, every record keeps its entity tag', async (t) => {
  const start = prepare(t);
  const before = await start();
  await before.send('PUT', 'a', { body: 'A' });
  const migrations = [
    'CREATE TABLE owners (id bigint PRIMARY KEY); CREATE INDEX notes_by_body ON notes (body)',
    "ALTER TABLE notes ADD COLUMN hidden text NOT NULL DEFAULT 'not shown'; ALTER TABLE notes ADD COLUMN color text",
    "INSERT INTO notes (slug, body, revision) VALUES ('b', 'B', 1); UPDATE notes SET body = 'C' WHERE slug = 'b'",
  ];
  const { send } = await start({ migrations, fields: { color: undefined } });
  t.equal((await send('GET', 'a', undefined, { 'if-none-match': '"1"' })).status, 304);
  t.match(await send('PUT', 'a', { body: 'D', color: 'red' }, { 'if-match': '"1"' }), {
    status: 200,
    body: { color: 'red' },
  });
});

t.test('a server keeps writing to a table while a newer version migrates the table', async (t) => {
  const start = prepare(t);
  const { notes } = (await start()).collections;
  let isOver = false;
  const write = async (slug: string) => {
    let revision = 0n;
    while (!isOver) {
      const { record } = (await notes.put(slug, { body: 'A' })) as Put<Fields>;
      t.ok((record.revision as bigint) > revision);
      revision = record.revision as bigint;
    }
  };
  const written = Array.from({ length: 20 }, (_, index) => write(`${index}`));
  const migrations: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    migrations.push(`ALTER TABLE notes ADD COLUMN ${name} text NOT NULL DEFAULT 'x'`);
    await start({ migrations: [...migrations] });
  }
  isOver = true;
  await Promise.all(written);
});
