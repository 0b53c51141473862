import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { isSpent, openConnection, tryCreates } from '../../src/contract-first/store/sqlite/connection.ts';
import { buildStatements, preventGc, Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import type { Table } from '../../src/contract-first/store/tables/table.ts';
import { openUrl } from '../database.ts';
import { collect } from '../used-heap.ts';

/** True if an object that was passed to `preventGc` survives a garbage collection in this version of Node. */
async function isKept(node: string): Promise<boolean> {
  const made = new WeakRef(preventGc({}, node));
  await nextTurn();
  collect();
  return made.deref() !== undefined;
}

t.test(
  'SQLite connections are protected from garbage collection on exactly those Node versions that need it',
  async (t) => {
    t.equal(await isKept('20.20.0'), false);
    t.equal(await isKept('22.23.3'), false);
    t.equal(await isKept('24.21.0'), true);
    t.equal(await isKept('26.0.0'), true);
  },
);

t.test('a SQLite file that cannot be opened leaves no open file descriptor', async (t) => {
  const file = `${t.testdir({ 'pets.db': 'no database '.repeat(1000) })}/pets.db`;
  for (let count = 0; count < 5; count++) t.throws(() => openConnection(file), { code: 'SQLITE_NOTADB' });
  const descriptors = readdirSync('/proc/self/fd').map((name) => `/proc/self/fd/${name}`);
  const open = descriptors.filter((path) => existsSync(path) && readlinkSync(path).endsWith('pets.db'));
  t.strictSame(open, []);
});

t.test('the garbage collection of a closed store does not crash the process', async (t) => {
  for (const url of ['sqlite::memory:', `sqlite:${t.testdir()}/pets.db`]) {
    const store = openUrl(url);
    await store.records.create({ name: 'Rex', categoryId: 7n });
    t.equal(await store.countInvalidRecords('a contract', () => false), 1);
    await store.check();
    await store.close();
  }
  collect();
  await nextTurn();
  collect();
});

t.test(
  'pragma() works as in better-sqlite3: it reads and sets a pragma, also when it is called repeatedly',
  async (t) => {
    const db = new Sqlite(':memory:');
    t.teardown(() => db.close());
    for (const version of [1, 2]) {
      t.strictSame(db.pragma(`user_version = ${version}`), []);
      t.equal(db.pragma('user_version', { simple: true }), version);
      t.strictSame(db.pragma('user_version'), [{ user_version: version }]);
    }
    for (const synchronous of ['FULL', 'OFF', 'FULL']) db.pragma(`synchronous = ${synchronous}`);
    t.equal(db.pragma('synchronous', { simple: true }), 2);
    t.throws(() => db.pragma('user_version = ?'), { code: 'SQLITE_ERROR' });
  },
);

t.test(
  'after an error that a new SQLite connection would not cure, such as a full disk, the connection stays in use',
  (t) => {
    for (const code of ['SQLITE_FULL', 'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_CONSTRAINT_UNIQUE'])
      t.equal(isSpent(code), false, code);
    for (const code of [
      'SQLITE_READONLY',
      'SQLITE_READONLY_DBMOVED',
      'SQLITE_IOERR_WRITE',
      'SQLITE_CORRUPT',
      undefined,
    ])
      t.equal(isSpent(code), true, String(code));
    t.end();
  },
);

t.test(
  'on new Node versions, the store keeps every prepared statement; on old ones, it keeps only the most recent',
  (t) => {
    const db = new Sqlite(':memory:');
    t.teardown(() => db.close());
    for (const [node, isThere] of [
      ['20.20.0', false],
      ['24.21.0', true],
    ] as const) {
      const statements = buildStatements(2, node);
      for (const sql of ['SELECT 1', 'SELECT 2', 'SELECT 3']) statements.set(sql, db.prepare(sql));
      t.equal(statements.get('SELECT 1') !== undefined, isThere, node);
      t.ok(statements.get('SELECT 3'), node);
    }
    t.end();
  },
);

t.test('tryCreates() throws if every create would fail, but not if only its own test row breaks a constraint', (t) => {
  const db = new Sqlite(':memory:');
  t.teardown(() => db.close());
  db.exec("CREATE TABLE free (n); CREATE TABLE narrow (n CHECK (n = 'fits'))");
  const toTable = (name: string) => ({ name, newFields: [{ column: 'n' }] }) as Table;
  tryCreates(db, [toTable('free'), toTable('narrow')]);
  t.throws(() => tryCreates(db, [toTable('free'), toTable('gone')]), { message: /no such table: gone/ });
  t.equal(db.inTransaction, false);
  t.strictSame(db.prepare('SELECT * FROM free').all(), []);
  t.end();
});
