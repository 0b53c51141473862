import { once } from 'node:events';
import {
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import t, { type Test } from 'tap';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import type { StoreLimits } from '../../src/contract-first/store/store.ts';
import { listPets, type NewPet, type OwnStore, openUrl } from '../database.ts';
import { prepareFile } from './file-outage.ts';

const REX: NewPet = { name: 'Rex', categoryId: 7n };

/**
 * Opens a store in a file. Also returns its writing thread, and a connection to the file like that of another program.
 */
async function openShared(t: Test, limits: Partial<StoreLimits> = {}) {
  const { file, open, connect } = prepareFile(t);
  const started = once(process, 'worker');
  const store = open(limits);
  const [thread] = (await started) as [Worker];
  return { file, store, thread, other: connect() };
}

/** Returns the outcome of each create: the name of the pet, the kind of the outage, or the name of the error. */
async function outcomesOf(creates: ReturnType<OwnStore['records']['create']>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(creates);
  return results.map((result) =>
    result.status === 'fulfilled' ? result.value.name : (result.reason.kind ?? result.reason.name),
  );
}

const namesIn = (db: Database) => db.prepare('SELECT name FROM pets ORDER BY id').pluck().all();

/** Returns the names of the pets in the database file alone, without those in its write-ahead log. */
function namesInFile(t: Test, file: string): unknown[] {
  const copy = `${t.testdirName}-copy.db`;
  copyFileSync(file, copy);
  const db = new Sqlite(copy);
  try {
    return namesIn(db);
  } finally {
    db.close();
    rmSync(copy);
  }
}

/**
 * Does the same for a file that is being written. Returns no names if the copy is damaged because it was made during a
 * write.
 */
function namesInCopy(t: Test, file: string): unknown[] {
  try {
    return namesInFile(t, file);
  } catch {
    return [];
  }
}

/**
 * Counts the transactions in the write-ahead log. Only the last frame of a transaction contains the size of the
 * database (sqlite.org/fileformat2.html, section 4.1).
 */
function countCommits(file: string): number {
  const log = readFileSync(`${file}-wal`);
  const pageSize = log.readUInt32BE(8);
  let count = 0;
  for (let frame = 32; frame < log.length; frame += 24 + pageSize) if (log.readUInt32BE(frame + 4) > 0) count++;
  return count;
}

t.test(
  'a create that waited is in the same transaction as the next create of a client that just got its answer',
  async (t) => {
    const { file, store, other } = await openShared(t);
    const counts = new Set<number>();
    for (let round = 0; round < 20; round++) {
      await store.records.create(REX);
      const before = countCommits(file);
      other.exec('BEGIN EXCLUSIVE');
      const first = store.records.create(REX);
      await nextTurn();
      await nextTurn();
      const waited = store.records.create(REX);
      other.exec('ROLLBACK');
      await first;
      await nextTurn();
      await Promise.all([waited, store.records.create(REX)]);
      counts.add(countCommits(file) - before);
    }
    // A round has three transactions if the machine paused for longer than a create may wait.
    t.ok(counts.has(2), `in a round: ${[...counts]} transactions`);
  },
);

t.test(
  'if too many creates wait or run, further creates fail immediately, and the earlier ones are made',
  async (t) => {
    const { store, other } = await openShared(t, { maxCreates: 3 });
    other.exec('BEGIN EXCLUSIVE');
    const first = store.records.create(REX);
    // The queue hands it to the writer in the second turn of the event loop.
    await nextTurn();
    await nextTurn();
    const creates = Array.from({ length: 4 }, () => store.records.create(REX));
    t.strictSame(await outcomesOf(creates.slice(2)), ['overloaded', 'overloaded']);
    other.exec('ROLLBACK');
    t.strictSame(await outcomesOf([first, ...creates.slice(0, 2)]), ['Rex', 'Rex', 'Rex']);
  },
);

t.test(
  'if a test write fails for another reason than an outage, the health check fails immediately and does not retry',
  async (t) => {
    const { store, other } = await openShared(t, { checkTimeout: 60_000 });
    other.exec('ALTER TABLE pets RENAME TO animals; CREATE VIEW pets AS SELECT * FROM animals');
    t.strictSame(await outcomesOf([store.records.create(REX)]), ['Error']);
    await t.rejects(async () => store.check(), { kind: 'unavailable', cause: { message: /pets.* is a view/ } });
  },
);

t.test('an invalid pet fails alone; the other creates in its batch are made', async (t) => {
  const { store, other } = await openShared(t);
  const names = ['Ada', 'Bob', 'Cid', 'Dot', 'Eve', 'Fay', 'Gus'];
  for (const [broken, outcome] of [
    [{ name: 'Rex', categoryId: 7.5 }, 'Error'],
    [{ name: () => {}, categoryId: 7n }, 'Error'],
    [{ name: 7n, categoryId: 7n }, 'TypeError'],
  ] as unknown as [NewPet, string][]) {
    for (const place of [0, 3, 7]) {
      other.exec('DELETE FROM pets');
      const pets: NewPet[] = names.map((name) => ({ name, categoryId: 7n }));
      pets.splice(place, 0, broken);
      const outcomes = await outcomesOf(pets.map((pet) => store.records.create(pet)));
      t.strictSame(outcomes, [...names.slice(0, place), outcome, ...names.slice(place)]);
      t.strictSame(namesIn(other), names);
    }
  }
});

t.test('if the writing thread ends, every create gets an answer, and the store starts a new thread', async (t) => {
  const { store, thread, other } = await openShared(t);
  let current = thread;
  for (let count = 1; count <= 2; count++) {
    await store.records.create(REX);
    const restarted = once(process, 'worker');
    other.exec('BEGIN EXCLUSIVE');
    const handedOver = outcomesOf([store.records.create(REX), store.records.create(REX)]);
    // The queue hands both to the writer by the second turn of the event loop.
    await nextTurn();
    await nextTurn();
    const waiting = outcomesOf([store.records.create(REX)]);
    current.terminate();
    // Without waiting, because better-sqlite3 aborts the process if a statement fails in a thread that is being
    // terminated.
    other.exec('ROLLBACK');
    t.strictSame(await handedOver, ['outcome_unknown', 'outcome_unknown']);
    [current] = (await restarted) as [Worker];
    t.strictSame(await waiting, ['Rex']);
    await store.check();
    t.equal(namesIn(other).length, 2 * count);
  }
});

t.test('a create that arrives while the writing thread ends is made by the thread that replaces it', async (t) => {
  const { store, thread } = await openShared(t);
  await store.records.create(REX);
  const late = once(thread, 'exit').then(() => outcomesOf([store.records.create(REX)]));
  const atOnce = new Promise((resolve) => {
    thread.once('exit', () => resolve(outcomesOf([store.records.create(REX)])));
  });
  await thread.terminate();
  t.strictSame([await atOnce, await late], [['Rex'], ['Rex']]);
});

t.test('if the database folder is a broken link, `create` reports an outage, not an internal error', async (t) => {
  const folder = `${t.testdir({ data: {} })}/data`;
  const store = openUrl(`sqlite:${folder}/pets.db`);
  t.teardown(() => store.close());
  await store.records.create(REX);
  renameSync(folder, `${folder}.moved`);
  symlinkSync(folder, folder);
  t.throws(() => store.check(), { kind: 'unavailable', cause: { message: /ELOOP/ } });
  t.strictSame(await outcomesOf([store.records.create(REX)]), ['unavailable']);
  rmSync(folder);
  renameSync(`${folder}.moved`, folder);
  t.strictSame(await outcomesOf([store.records.create(REX)]), ['Rex']);
});

t.test('if the writing thread ends while the store is closing, no new thread is started', async (t) => {
  const { store, thread } = await openShared(t);
  await store.records.create(REX);
  await thread.terminate();
  await store.close();
});

t.test(
  'a store whose write-ahead log is deleted accepts no more pets, and moves the logged pets into the database file',
  async (t) => {
    for (const name of ['-wal', '-shm']) {
      for (const isIdle of [false, true]) {
        const { file, store } = await openShared(t);
        for (let count = 0; count < 3; count++) await store.records.create(REX);
        rmSync(file + name);
        t.throws(() => store.check(), { kind: 'unavailable', cause: { code: 'SQLITE_READONLY_DBMOVED' } });
        if (!isIdle) t.strictSame(await outcomesOf([store.records.create(REX)]), ['unavailable']);
        while (namesInCopy(t, file).length < 3) await wait(20);
        t.strictSame(await outcomesOf([store.records.create(REX)]), ['unavailable']);
        t.equal(JSON.parse((await listPets(store, { limit: 10 })).body.text).length, 3);
        await store.close();
        t.equal(namesInFile(t, file).length, 3);
        rmSync(file);
      }
    }
  },
);

t.test('if the database file is replaced before the first write, the store accepts no pets', async (t) => {
  const { file, store } = await openShared(t);
  renameSync(file, `${file}.moved`);
  copyFileSync(`${file}.moved`, file);
  t.strictSame(await outcomesOf([store.records.create(REX)]), ['unavailable']);
  t.strictSame(namesInFile(t, file), []);
});

t.test('if an open database file is damaged, only reads of the damaged pages fail', async (t) => {
  const MANY = 20_000;
  for (const damage of [
    (file: string) => truncateSync(file, 0),
    (file: string) => truncateSync(file, statSync(file).size / 2),
    (file: string) => writeSync(openSync(file, 'r+'), Buffer.alloc(statSync(file).size - 8192, 0xaa), 0, null, 8192),
  ]) {
    const { file, store, other } = await openShared(t);
    other.exec(`
      WITH RECURSIVE counts(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counts WHERE i < ${MANY})
      INSERT INTO pets (name, category_id) SELECT 'Rex', i FROM counts`);
    other.pragma('wal_checkpoint(TRUNCATE)');
    damage(file);
    for (const read of [() => store.records.get(BigInt(MANY)), () => listPets(store, { limit: 100, after: 10_000n })]) {
      t.throws(read, { kind: 'unavailable', cause: { code: /^SQLITE_(CORRUPT|NOTADB|IOERR)/ } });
      await nextTurn();
      await nextTurn();
    }
    rmSync(file);
  }
});

t.test('creates are made even if another program holds the write lock almost all the time', async (t) => {
  const file = `${t.testdir()}/pets.db`;
  const store = openUrl(`sqlite:${file}`);
  t.teardown(() => store.close());
  const busy = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const db = require('better-sqlite3')(workerData);
     const wait = (time) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time);
     for (;;) {
       db.exec('BEGIN IMMEDIATE');
       parentPort.postMessage('begun');
       wait(100);
       db.exec('COMMIT');
       wait(4);
     }`,
    { eval: true, workerData: file },
  );
  t.teardown(() => busy.terminate());
  await once(busy, 'message');
  for (let count = 0n; count < 10n; count++) {
    t.equal((await store.records.create({ name: 'Rex', categoryId: count })).id, count + 1n);
  }
});
