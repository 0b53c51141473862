import t from 'tap';
import { addFigures } from '../faults/figures.ts';
import { record, violationsOf } from '../histories.ts';
import { openPostgresUrl, startPostgres } from '../postgres.ts';

const INSTANCES = 8;
const ROUNDS = Number(process.env.ROUNDS) || 8;
/** The duration of each round in milliseconds. */
const ROUND = 10_000;
/** The timeout of calls in milliseconds, long enough for a busy machine. */
const TIMEOUT = 60_000;

t.test(
  `concurrent calls to ${INSTANCES} stores on one PostgreSQL are linearizable, in each of ${ROUNDS} rounds`,
  async (t) => {
    const server = await startPostgres(t);
    const url = server.newUrl();
    const limits = { createTimeout: TIMEOUT, maxCreates: 10_000 };
    let count = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await t.test(`concurrent calls to several stores are linearizable, round ${round + 1}`, async (t) => {
        const openOne = async () => {
          const store = await openPostgresUrl(url, limits, TIMEOUT);
          t.teardown(() => store.close());
          return store;
        };
        const calls = await record(await Promise.all(Array.from({ length: INSTANCES }, openOne)), 4 * INSTANCES, ROUND);
        count += calls.length;
        t.strictSame(violationsOf(calls), []);
      });
    }
    addFigures('histories', `${count} calls to ${INSTANCES} stores in ${ROUNDS} rounds, each checked`);
  },
);
