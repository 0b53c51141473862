/** The store with another domain: what any store must do holds for books too. */
import t, { type Test } from 'tap';
import { openStore } from '../src/store/open-store.ts';
import { openPostgres } from '../src/store/postgres/open-postgres.ts';
import { type PostgresSettings, parsePostgresUrl } from '../src/store/postgres/settings.ts';
import { Sqlite } from '../src/store/sqlite/kept-sqlite.ts';
import { toTable } from '../src/store/table.ts';
import { books } from './books/domain.ts';
import { schemaOf, startPostgres } from './postgres.ts';
import { type AnyStore, type Place, testSharing, testStore } from './store-suite.ts';

const LIMITS = { createTimeout: 60_000, maxCreates: 10_000, checkTimeout: 60_000 };

/** A description may become stricter than what is stored. */
async function testMissingField(t: Test, { open, execute }: Place): Promise<void> {
  const store = await open();
  const book = { title: 'Emma', isbn: 7n, authors: ['Jane Austen'], tags: null, price: 1.5, shelf: null };
  await store.records.create(book);
  await store.records.create(book);
  await execute('UPDATE books SET isbn = NULL WHERE id = 1');
  t.equal(await store.countMisfits('a contract', (text) => text !== 'null'), 1);
  await store.close();
}

t.test('memory', async (t) => {
  const open = () => openStore({ kind: 'memory' }, books, LIMITS) as unknown as AnyStore;
  testStore(t, { isShared: false, prepare: () => ({ open, execute: () => {}, count: () => 0 }) }, books);
});

t.test('a file', async (t) => {
  const prepare = (t: Test) => {
    const file = `${t.testdir()}/books.db`;
    const run = <Result>(use: (db: Sqlite) => Result) => {
      const db = new Sqlite(file);
      const result = use(db);
      db.close();
      return result;
    };
    return {
      open: () => openStore({ kind: 'sqlite', file }, books, LIMITS) as unknown as AnyStore,
      execute: (sql: string) => run((db) => void db.exec(sql)),
      count: (table: string) => run((db) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())),
    };
  };
  testSharing(t, { isShared: true, prepare }, books);
  t.test('a book without a field that it must have fits no contract', async (t) => testMissingField(t, prepare(t)));
});

t.test('PostgreSQL', async (t) => {
  const server = await startPostgres(t);
  function prepare() {
    const url = server.newUrl();
    return {
      open: () => openPostgres(parsePostgresUrl(url) as PostgresSettings, books, LIMITS, 60_000),
      execute: async (sql: string) => void (await server.execute(`SET search_path = ${schemaOf(url)}; ${sql}`)),
      count: async (table: string) => {
        const { rows } = await server.execute(`SELECT count(*) FROM ${schemaOf(url)}.${table}`);
        return Number(rows[0]?.count);
      },
    };
  }
  testStore(t, { isShared: true, prepare }, books);
  t.test('a book without a field that it must have fits no contract', async (t) => testMissingField(t, prepare()));
});

t.test('a description of which no statement could be made is refused', async (t) => {
  t.throws(() => toTable({ ...books, table: 'Books; --' }), { message: /named in small letters.*Books; --/ });
  t.throws(() => toTable({ ...books, filters: ['authors'] }), { message: /cannot be filtered by authors/ });
});
