import t from 'tap';
import type { Change, TransactionCall } from '../../src/contract-first/store/changes/changes.ts';
import { transactionOf } from '../../src/contract-first/store/changes/transactions.ts';
import { migrateSqlite } from '../../src/contract-first/store/sqlite/migrate.ts';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import { prepareWriteAll } from '../../src/contract-first/store/sqlite/writes.ts';
import { toStoredTables } from '../../src/contract-first/store/tables/record-codec.ts';
import { toTables } from '../../src/contract-first/store/tables/table.ts';
import { domain } from '../../src/generated/domain.ts';
import { holdClock } from '../held-clock.ts';

t.test(
  'if the disk is full during a change, nothing of its batch is stored; a retry stores the whole batch',
  async (t) => {
    const db = new Sqlite(`${t.testdir()}/pets.db`);
    t.teardown(() => db.close());
    db.defaultSafeIntegers();
    migrateSqlite(db, domain);
    const writeAll = prepareWriteAll(db, toStoredTables(toTables(domain), {}), {});
    const toCreate = (name: string): Change => ({
      ...{ collection: 'pets', kind: 'create', record: { name, categoryId: 7n }, add: {} },
      ...{ if: undefined, tenant: undefined },
      idempotency: { caller: 'a', operation: 'createPet', key: name.slice(0, 5), digest: name.slice(0, 5), hours: 24 },
    });
    const batch = { rows: {}, changes: [toCreate('small'), toCreate('large'.repeat(100_000))] };
    const names = () => db.prepare('SELECT substr(name, 1, 5) FROM pets').pluck().all();
    db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`);
    t.throws(() => writeAll(batch), { code: 'SQLITE_FULL' });
    t.strictSame(names(), []);
    db.pragma('max_page_count = 100000');
    t.equal(writeAll(batch).changes.length, 2);
    t.strictSame(names(), ['small', 'large']);
  },
);

t.test('if several transactions together use up the time of a batch, the error blames none of them', async (t) => {
  const db = new Sqlite(':memory:');
  t.teardown(() => db.close());
  db.defaultSafeIntegers();
  migrateSqlite(db, domain);
  const clock = holdClock(t);
  let spent = 0;
  const spend = transactionOf<typeof domain>()(function* ({ pets }, time: number) {
    yield* pets.create({ name: 'Rex', categoryId: 7n });
    clock.pass(time);
    spent += time;
    while (spent > 1000);
  });
  const writeAll = prepareWriteAll(db, toStoredTables(toTables(domain), {}), { pets: { spend } });
  const toCall = (input: number): TransactionCall => ({
    collection: 'pets',
    call: 'spend',
    input,
    tenant: undefined,
    idempotency: undefined,
  });
  const write = (...times: number[]) => {
    spent = 0;
    return writeAll({ rows: {}, changes: times.map(toCall) });
  };
  t.throws(() => write(400, 400, 400), { message: 'pets.spend: it has not ended in 1003 ms', at: undefined });
  t.throws(() => write(0, 2000), { message: 'pets.spend: it has not ended in 1002 ms', at: 1 });
  t.equal(write(0, 0).changes.length, 2);
  db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`);
  t.throws(
    () => write(...Array(1000).fill(0)),
    { code: 'SQLITE_FULL' },
    'another error of the batch is reported unchanged',
  );
  t.equal(db.prepare('SELECT count(*) FROM pets').pluck().get(), 2n);
});
