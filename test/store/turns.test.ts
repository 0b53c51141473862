import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { openUrl } from '../database.ts';

t.test('creates take their turns beside a program that writes almost all the time', async (t) => {
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
