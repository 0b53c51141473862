import t from 'tap';
import type { Change } from '../../src/contract-first/store/changes/changes.ts';
import { buildRunChanges } from '../../src/contract-first/store/postgres/changes.ts';
import type { PostgresConnection } from '../../src/contract-first/store/postgres/connection.ts';
import { StoreUnavailable } from '../../src/contract-first/store/store.ts';
import { toStoredTables } from '../../src/contract-first/store/tables/record-codec.ts';
import { toTables } from '../../src/contract-first/store/tables/table.ts';
import { domain } from '../../src/generated/domain.ts';
import { holdClock } from '../held-clock.ts';

/**
 * Makes a connection on which statements that begin with these words fail. It is lost at statements that begin with
 * `lostAt`.
 */
function failing(fails: Record<string, Error>, lostAt = ''): PostgresConnection {
  const connection = {
    isOpen: true,
    query: async (sql: string) => {
      if (lostAt !== '' && sql.startsWith(lostAt)) connection.isOpen = false;
      const error = Object.entries(fails).find(([words]) => sql.startsWith(words))?.[1];
      if (error) throw error;
      return { rows: [], command: 'SELECT' };
    },
  };
  return connection as unknown as PostgresConnection;
}

const run = buildRunChanges('public', []);
const changes = [{ table: 'none' }, { table: 'none' }] as unknown as Change[];

t.test('if the transaction of a batch cannot begin, each change of the batch fails with the error', async (t) => {
  const broken = new Error('the transaction is broken');
  t.strictSame(await run(failing({ BEGIN: broken }), changes), [broken, broken]);
});

t.test(
  'if the connection is lost before COMMIT, each change of the batch fails as an outage of the store',
  async (t) => {
    const lost = new Error('the connection is lost');
    for (const answer of await run(failing({ BEGIN: lost }, 'BEGIN'), changes)) {
      t.match(answer, { name: 'StoreUnavailable', cause: lost });
    }
    const outage = new StoreUnavailable(lost);
    t.strictSame(await run(failing({ BEGIN: outage }, 'BEGIN'), changes), [outage, outage]);
  },
);

t.test(
  'if the connection is lost during a savepoint, each change of the batch fails as an outage of the store',
  async (t) => {
    const lost = new Error('the connection is lost');
    const connection = failing({ DELETE: lost });
    const { query } = connection;
    connection.query = async (sql) => {
      if (sql.startsWith('SAVEPOINT')) Object.assign(connection, { isOpen: false });
      await query(sql);
      return [['now']];
    };
    const removal = { collection: 'pets', kind: 'delete', id: 1n } as unknown as Change;
    const [answer] = await buildRunChanges('public', toStoredTables(toTables(domain), {}))(connection, [removal]);
    t.match(answer, { name: 'StoreUnavailable', cause: lost });
  },
);

t.test(
  'a batch that takes too long commits its first changes, and makes the others in a second transaction if time is left',
  async (t) => {
    const clock = holdClock(t);
    const asked: string[] = [];
    const removal = { collection: 'pets', kind: 'delete', id: 1n } as unknown as Change;
    const runOn = async (wait: number, time: number) => {
      asked.length = 0;
      const connection = failing({});
      connection.until = performance.now() + time;
      connection.query = async (sql) => {
        asked.push(sql.split(/[ ;]/, 1)[0] as string);
        clock.pass(wait);
        return [['now']];
      };
      return buildRunChanges('public', toStoredTables(toTables(domain), {}))(connection, [removal, removal]);
    };
    const late = { name: 'StoreUnavailable', kind: 'unavailable', cause: { message: /took long/ } };
    t.match(await runOn(0, -1), [late, late]);
    t.strictSame(asked, []);
    t.match(await runOn(80, 50), [late, late]);
    t.strictSame(asked, ['BEGIN', 'ROLLBACK']);
    t.match(await runOn(80, 1000), [{ text: 'true' }, { text: 'true' }]);
    t.strictSame(asked, ['BEGIN', 'DELETE', 'DELETE', 'COMMIT']);
    t.match(await runOn(120, 1000), [{ text: 'true' }, { text: 'true' }]);
    t.strictSame(asked, ['BEGIN', 'DELETE', 'COMMIT', 'BEGIN', 'DELETE', 'COMMIT']);
    t.match(await runOn(120, 300), [{ text: 'true' }, late]);
    t.strictSame(asked, ['BEGIN', 'DELETE', 'COMMIT']);
  },
);
