import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { shareSnapshots } from '../../src/contract-first/store/sqlite/snapshots.ts';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';

/** Opens a connection that reads from shared snapshots, and a second one that writes to the same file. */
function open(t: Test) {
  const file = `${t.testdir()}/counts.db`;
  const [reader, writer] = [new Sqlite(file), new Sqlite(file)];
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE counts (value)');
  t.teardown(() => {
    reader.close();
    writer.close();
  });
  const snapshots = shareSnapshots(reader);
  const count = reader.prepare<[], number>('SELECT count(*) FROM counts').pluck();
  return {
    reader,
    snapshots,
    add: () => writer.exec('INSERT INTO counts VALUES (1)'),
    read: () => ({ snapshot: snapshots.enter(), count: count.get() }),
  };
}

t.test(
  'all reads in one turn of the event loop see the same snapshot; reads in the next turn see writes made meanwhile',
  async (t) => {
    const { add, read } = open(t);
    t.strictSame(read(), { snapshot: 1, count: 0 });
    add();
    t.strictSame(read(), { snapshot: 1, count: 0 });
    await nextTurn();
    t.strictSame(read(), { snapshot: 2, count: 1 });
  },
);

t.test('after leave(), a read in the same turn of the event loop sees the latest writes', async (t) => {
  const { snapshots, add, read } = open(t);
  read();
  add();
  snapshots.leave();
  t.strictSame(read(), { snapshot: 2, count: 1 });
});

t.test('a snapshot ends with its turn of the event loop, so that SQLite can empty its write-ahead log', async (t) => {
  const { reader, read } = open(t);
  read();
  t.equal(reader.inTransaction, true);
  await nextTurn();
  t.equal(reader.inTransaction, false);
});

t.test('if SQLite itself ends the transaction of a snapshot, the next read begins a new one', async (t) => {
  const { reader, snapshots, add, read } = open(t);
  read();
  reader.exec('ROLLBACK');
  add();
  snapshots.leave();
  t.strictSame(read(), { snapshot: 2, count: 1 });
});
