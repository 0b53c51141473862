import { randomUUID } from 'node:crypto';
import pg from 'pg';
import t, { type Test } from 'tap';
import type { Connection, Row } from '../../src/store/postgres/connection.ts';
import { buildInsertPets } from '../../src/store/postgres/insert.ts';
import { buildInsertOnce } from '../../src/store/postgres/insert-once.ts';
import { buildKeys } from '../../src/store/postgres/keys.ts';
import { loadMigrations, migrate } from '../../src/store/postgres/migrate.ts';
import { buildCountMisfits } from '../../src/store/postgres/misfits.ts';
import { openPostgres } from '../../src/store/postgres/open-postgres.ts';
import { buildListPets } from '../../src/store/postgres/pages.ts';
import { buildGetPets } from '../../src/store/postgres/pets.ts';
import { type PostgresPlace, parsePostgresUrl } from '../../src/store/postgres/place.ts';
import { buildTallies } from '../../src/store/postgres/tallies.ts';
import { buildUses } from '../../src/store/postgres/uses.ts';
import { schemaOf, startPostgres } from '../postgres.ts';

const server = await startPostgres(t);
const NOW = '2026-01-01T00:00:00.000Z';

/**
 * What a program asks of the database, since the version of the schema that it came with. A migration that changes one of these
 * keeps the old one here: programs of the version before it go on to ask it while they are replaced.
 */
const CALLS: { since: number; until?: number; ask(t: Test, schema: string, connection: Connection): Promise<void> }[] =
  [
    {
      since: 1,
      ask: async (t, schema, connection) => {
        const [id] = await buildInsertPets(schema)(connection, [{ name: 'Rex', categoryId: 7n }]);
        const text = `{"id":${id},"name":"Rex","categoryId":7}`;
        const [pet] = await buildGetPets(schema)(connection, [id as bigint]);
        const [page] = await buildListPets(schema)(connection, [{ limit: 1, after: (id as bigint) - 1n }]);
        t.strictSame([pet?.text, page?.body.text], [text, `[${text}]`]);
      },
    },
    {
      since: 2,
      until: 5,
      ask: async (t, schema, connection) => {
        const columns = 'id, name, hash, created_at, expires_at, revoked_at';
        const id = String((await connection.query(`SELECT ${columns} FROM ${schema}.api_keys`)).length);
        const values = [id, 'Ada', id.padStart(64, '0'), NOW, null, null];
        await connection.query(`INSERT INTO ${schema}.api_keys (${columns}) VALUES ($1, $2, $3, $4, $5, $6)`, values);
        t.ok(await buildKeys(schema).revoke(connection, id, NOW));
      },
    },
    {
      since: 4,
      ask: async (t, schema, connection) => {
        t.match(String(await connection.query(`SELECT count FROM ${schema}.api_key_changes`)), /^\d+$/);
      },
    },
    {
      since: 5,
      ask: async (t, schema, connection) => {
        t.equal(await buildCountMisfits(schema)(connection, 'contract', () => true), 0);
      },
    },
    {
      since: 6,
      until: 6,
      ask: async (t, schema, connection) => {
        const columns = 'id, name, hash, created_at, expires_at, revoked_at, scopes';
        const id = String((await connection.query(`SELECT ${columns} FROM ${schema}.api_keys`)).length);
        const values = [id, 'Ada', id.padStart(64, '0'), NOW, null, null, 'pets:read'];
        await connection.query(
          `INSERT INTO ${schema}.api_keys (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
          values,
        );
        t.ok(await buildKeys(schema).revoke(connection, id, NOW));
      },
    },
    {
      since: 7,
      ask: async (t, schema, connection) => {
        await connection.query(`INSERT INTO ${schema}.tallies AS known (id, began, total) VALUES ('Ada', 60, 1)
          ON CONFLICT (id) DO UPDATE SET began = greatest(known.began, EXCLUDED.began), total = known.total + 1`);
        const keys = buildKeys(schema);
        const id = String((await keys.list(connection)).length);
        await keys.insert(connection, { id, name: 'Ada', hash: id.padStart(64, '0'), createdAt: NOW });
        t.ok(await keys.revoke(connection, id, NOW));
      },
    },
    {
      since: 8,
      ask: async (t, schema, connection) => {
        const uses = buildUses(schema);
        await uses.add(connection, [{ keyId: 'Ada', operationId: 'getPet', count: 1, usedAt: NOW }]);
        t.match(await uses.list(connection), [{ keyId: 'Ada', usedAt: NOW }]);
      },
    },
    {
      since: 9,
      ask: async (t, schema, connection) => {
        const pet = { name: 'Rex', categoryId: 7n };
        const keyed = { caller: 'Ada', key: randomUUID(), hours: 24, digest: 'a' };
        const [id] = await buildInsertOnce(schema)(connection, [{ pet, keyed }]);
        t.strictSame(await buildInsertOnce(schema)(connection, [{ pet, keyed }]), [{ id, isSame: true }]);
      },
    },
    {
      since: 10,
      ask: async (t, schema, connection) => {
        const changes = await buildKeys(schema).readChanges(connection);
        t.strictSame(await buildKeys(schema).readChanges(connection, changes?.version), {
          ...changes,
          isAll: false,
          keys: [],
        });
      },
    },
    {
      since: 11,
      ask: async (t, schema, connection) => {
        const [tallied] = await buildTallies(schema)(connection, [{ id: 'Ada', window: 60, amount: 1 }]);
        t.ok(tallied && tallied.total > 0);
      },
    },
  ];

/** As text, as the store has it. */
async function connect(t: Test): Promise<Connection> {
  const { port, password } = server;
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'petstore', password, database: 'postgres' });
  await client.connect();
  t.teardown(() => client.end());
  const types = { getTypeParser: () => (text: string) => text };
  const query = async (text: string, values?: unknown[]) =>
    (await client.query<Row>({ text, values: values as unknown[], rowMode: 'array', types })).rows;
  return { query } as Connection;
}

t.test('programs of each version go on while the next one migrates, and afterwards', async (t) => {
  const migrations = loadMigrations();
  for (const [index] of migrations.slice(1).entries()) {
    const version = index + 1;
    const url = server.newUrl();
    const schema = schemaOf(url);
    const [older, newer] = await Promise.all([connect(t), connect(t)]);
    await migrate(newer, schema, migrations.slice(0, version));
    let isMigrated = false;
    const askAll = async () => {
      for (const { since, until = version, ask } of CALLS) {
        if (since <= version && version <= until) await ask(t, schema, older);
      }
    };
    const askOnAndOn = async () => {
      while (!isMigrated) await askAll();
      await askAll();
    };
    const migrateNext = async () => {
      await migrate(newer, schema, migrations.slice(0, version + 1));
      isMigrated = true;
    };
    await Promise.all([askOnAndOn(), migrateNext()]);
  }
});

t.test('a store goes on after a migration that it does not know; one that is opened is refused', async (t) => {
  const url = server.newUrl();
  const open = () =>
    openPostgres(parsePostgresUrl(url) as PostgresPlace, { createTimeout: 60_000, maxCreates: 10 }, 60_000);
  const store = await open();
  t.teardown(() => store.close());
  const { id } = await store.createPet({ name: 'Rex', categoryId: 7n });
  const next = 'ALTER TABLE pets ADD COLUMN weight bigint; ALTER TABLE api_keys ADD COLUMN owner text';
  await migrate(await connect(t), schemaOf(url), [...loadMigrations(), next]);

  t.equal((await store.getPet(id))?.text, `{"id":${id},"name":"Rex","categoryId":7}`);
  await store.createPet({ name: 'Ann', categoryId: 8n, status: 'sold' });
  t.match((await store.listPets({ limit: 1 })).next, id);
  await store.createKey({ id: 'a', name: 'Ada', hash: 'a'.repeat(64), createdAt: NOW });
  t.equal((await store.readKeys()).keys.length, 1);
  await store.check();
  await t.rejects(open(), /this program knows \d+ at most/);
});
