/** Runs the tests of `store-suite.ts` with a second domain: books. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { writeFirstMigrations } from '../src/contract-first/cli/migration/table-sql.ts';
import type { Fields } from '../src/contract-first/store/collection.ts';
import type { Database } from '../src/contract-first/store/database-url.ts';
import { openStore } from '../src/contract-first/store/open-store.ts';
import { openPostgres } from '../src/contract-first/store/postgres/open-postgres.ts';
import { openSqlite } from '../src/contract-first/store/sqlite/open-sqlite.ts';
import { Sqlite } from '../src/contract-first/store/sqlite/sqlite.ts';
import type { AnyDescription } from '../src/contract-first/store/tables/description.ts';
import { toTable } from '../src/contract-first/store/tables/table.ts';
import { books } from './books/domain.ts';
import { LIMITS, withRecords } from './database.ts';
import { schemaOf, settingsOf, startPostgres } from './postgres.ts';
import { type AnyStore, type Place, testSharing, testStore } from './store-suite.ts';

/** Every nullable field with the value null. */
const NULLS = { tags: null, rating: null, series: null, isSold: null, shelf: null };

const openBooks = (database: Database) => withRecords(openStore(database, { books }, LIMITS), 'books') as AnyStore;

/** Checks that a stored record which lacks a field that the contract requires is counted as invalid. */
async function testMissingField(t: Test, { open, execute }: Place): Promise<void> {
  const store = await open();
  const book = { title: 'Emma', isbn: 7n, authors: ['Jane Austen'], price: 1.5, ...NULLS };
  await store.records.create(book);
  await store.records.create(book);
  await execute('UPDATE books SET isbn = NULL WHERE id = 1');
  t.equal(await store.countInvalidRecords('a contract', (text) => text !== 'null'), 1);
  await store.close();
}

/** A name that would end a string literal in SQL, JSON or JavaScript if it were not escaped. */
const NAME = `'"\\'' || (SELECT 1/0) || '\u2028\n\0$1 --`;

/** Checks that records may have fields of any name, because a contract may name its fields freely. */
async function testAnyName(
  t: Test,
  open: (description: AnyDescription) => AnyStore | Promise<AnyStore>,
): Promise<void> {
  const { title, ...columns } = books.columns;
  const store = await open({ ...books, columns: { ...columns, [NAME]: title } });
  t.teardown(() => store.close());
  const book = { [NAME]: 'Emma', isbn: 7n, authors: ['Jane Austen'], price: 1.5, ...NULLS };
  const { id } = (await store.records.create(book)) as { id: bigint };
  t.match((await store.records.get(id))?.read(), { id, ...book });
  t.match((await store.records.list({ limit: 1 }))?.body.read(), [{ id, ...book }]);
}

/** Ids of each number type: two that are stored, and others that are not. */
const NUMBER_IDS = {
  int32: { stored: [7, -3], others: [0, 2 ** 31, -(2 ** 40)] },
  number: { stored: [7, -0.5], others: [0, 0.1 + 0.2, 1e300] },
} as const;

/** Checks that a record is found, updated and deleted by an id that is a number, even next to ids that are not stored. */
async function testNumberIds(
  t: Test,
  open: (description: AnyDescription) => AnyStore | Promise<AnyStore>,
): Promise<void> {
  for (const [type, { stored, others }] of Object.entries(NUMBER_IDS)) {
    const columns = { id: { type: type as 'int32', is: 'id' }, title: { type: 'text' } } as const;
    const { lists: _, ...own } = { ...books, columns };
    const [migration] = writeFirstMigrations({ books: own });
    const folder = t.testdir({
      sqlite: { '0001-books.sql': migration?.sqlite as string },
      postgres: { '0001-books.sql': migration?.postgres as string },
    });
    const { records, close } = await open({ ...own, migrations: pathToFileURL(`${folder}/`) });
    t.teardown(close);
    const made = stored.map((id) => ({ id, title: `Book ${id}` }));
    for (const record of made) t.same(await records.create(record), record, type);
    const found = await Promise.all([...others, ...stored].map((id) => records.get(id)));
    t.same(
      found.map((one) => one?.read()),
      [...others.map(() => undefined), ...made],
      type,
    );
    t.equal(await records.update(others[0], { title: 'Emma' }), undefined, type);
    const [first, second] = made as Fields[] as [Fields, Fields];
    t.same(await records.update(first.id, { title: 'Emma' }), { ...first, title: 'Emma' }, type);
    t.same((await records.get(first.id))?.read(), { ...first, title: 'Emma' }, type);
    t.equal(await records.delete(first.id), true, type);
    t.equal(await records.get(first.id), undefined, type);
    t.same((await records.list({ limit: 9 }))?.body.read(), [second], type);
  }
}

t.test('the store passes its tests with books in a SQLite database in memory', async (t) => {
  const open = () => openBooks({ kind: 'memory' });
  const openOwn = (own: AnyDescription) =>
    withRecords(openStore({ kind: 'memory' }, { books: own }, LIMITS), 'books') as AnyStore;
  testStore(t, { isShared: false, prepare: () => ({ open, execute: () => {}, count: () => 0 }) }, books);
  t.test('a field of a record may have any name', async (t) => testAnyName(t, openOwn));
  t.test('the id of a record may be a number of any type', async (t) => testNumberIds(t, openOwn));
});

t.test('the store passes its tests with books in a SQLite file', async (t) => {
  const prepare = (t: Test) => {
    const file = `${t.testdir()}/books.db`;
    const run = <Result>(use: (db: Sqlite) => Result) => {
      const db = new Sqlite(file);
      const result = use(db);
      db.close();
      return result;
    };
    return {
      open: () => openBooks({ kind: 'sqlite', file }),
      execute: (sql: string) => run((db) => void db.exec(sql)),
      count: (table: string) => run((db) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())),
    };
  };
  testSharing(t, { isShared: true, prepare }, books);
  t.test('the store counts a stored record that lacks a required field as breaking the contract', async (t) =>
    testMissingField(t, prepare(t)),
  );
});

t.test('the store passes its tests with books in PostgreSQL', async (t) => {
  const server = await startPostgres(t);
  const openAt = async (url: string, own: AnyDescription = books) => {
    const store = await openPostgres(settingsOf(url), { books: own }, LIMITS, {}, 60_000);
    return withRecords(store, 'books') as AnyStore;
  };
  function prepare() {
    const url = server.newUrl();
    return {
      open: () => openAt(url),
      execute: async (sql: string) => void (await server.execute(`SET search_path = ${schemaOf(url)}; ${sql}`)),
      count: async (table: string) => {
        const { rows } = await server.execute(`SELECT count(*) FROM ${schemaOf(url)}.${table}`);
        return Number(rows[0]?.count);
      },
    };
  }
  const openOwn = (own: AnyDescription) => openAt(server.newUrl(), own);
  testStore(t, { isShared: true, prepare }, books);
  t.test('the store counts a stored record that lacks a required field as breaking the contract', async (t) =>
    testMissingField(t, prepare()),
  );
  t.test('a field of a record may have any name', async (t) => testAnyName(t, openOwn));
  t.test('the id of a record may be a number of any type', async (t) => testNumberIds(t, openOwn));
});

t.test(
  'in the description of a collection, a wrong table name, filter, unique set or column is an error',
  async (t) => {
    t.throws(() => toTable({ ...books, table: 'Books; --' }), { message: /named in small letters.*Books; --/ });
    t.throws(() => toTable({ ...books, lists: { equal: ['authors'] } }), { message: /cannot be filtered by authors/ });
    for (const other of [{ lists: { equal: ['color'] } }, { unique: [{ fields: ['color'], code: 'color_taken' }] }])
      t.throws(() => toTable({ ...books, ...other }), {
        message: /^books has no column for color, which its lists or/,
      });
  },
);

/** The books domain with its first migration changed by `change`. */
function withMigrations(t: Test, change: (sql: string) => string): AnyDescription {
  const read = (database: string) =>
    change(readFileSync(new URL(`${database}/0001-books.sql`, books.migrations), 'utf8'));
  const folder = t.testdir({
    sqlite: { '0001-books.sql': read('sqlite') },
    postgres: { '0001-books.sql': read('postgres') },
  });
  return { ...books, migrations: pathToFileURL(`${folder}/`) };
}

t.test(
  "if a table from the migrations differs from its collection's description, the start fails and changes nothing",
  async (t) => {
    const server = await startPostgres(t);
    const both = ['sqlite', 'postgres'];
    const changes: [databases: string[], change: (sql: string) => string, message: string][] = [
      [['sqlite'], (sql) => sql.replace(/tags text/i, 'tags BLOB'), 'the column books.tags must be TEXT, not BLOB'],
      [['postgres'], (sql) => sql.replace(/tags text/i, 'tags jsonb'), 'the column books.tags must be text, not jsonb'],
      [
        both,
        (sql) => sql.replace(/series (\w+)/, 'series $1 NOT NULL').replace(/printed_at text.*,/i, ''),
        'books has no column printed_at; the column books.series is NOT NULL, but series may be without a value',
      ],
      [both, (sql) => sql.replaceAll('books', 'tomes'), 'its migrations do not create the table books'],
    ];
    for (const [databases, change, message] of changes) {
      const other = withMigrations(t, change);
      if (databases.includes('sqlite')) {
        const file = `${t.testdirName}/books.db`;
        t.throws(() => openSqlite(file, { books: other }, LIMITS), { message });
        const store = withRecords(openSqlite(file, { books }, LIMITS), 'books') as AnyStore;
        t.equal(await store.records.get(1n), undefined);
        await store.close();
      }
      if (databases.includes('postgres')) {
        const settings = settingsOf(server.newUrl());
        await t.rejects(openPostgres(settings, { books: other }, LIMITS, {}, 60_000), { message });
        const store = withRecords(await openPostgres(settings, { books }, LIMITS, {}, 60_000), 'books') as AnyStore;
        t.equal(await store.records.get(1n), undefined);
        await store.close();
      }
    }
  },
);
