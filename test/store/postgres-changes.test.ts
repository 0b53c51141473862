import t from 'tap';
import { domain } from '../../src/generated/domain.ts';
import { toKept } from '../../src/store/kept.ts';
import { buildRunChanges } from '../../src/store/postgres/changes.ts';
import type { Connection } from '../../src/store/postgres/connection.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { toTables } from '../../src/store/table.ts';
import type { Change } from '../../src/store/write.ts';

/** A connection that fails, or is lost, at statements that begin with these words. */
function failing(fails: Record<string, Error>, lostAt = ''): Connection {
  const connection = {
    isOpen: true,
    query: async (sql: string) => {
      if (lostAt !== '' && sql.startsWith(lostAt)) connection.isOpen = false;
      const error = Object.entries(fails).find(([words]) => sql.startsWith(words))?.[1];
      if (error) throw error;
      return { rows: [], command: 'SELECT' };
    },
  };
  return connection as unknown as Connection;
}

const run = buildRunChanges('public', []);
const changes = [{ table: 'none' }, { table: 'none' }] as unknown as Change[];

t.test('a batch that cannot begin fails for each of its changes, and no other', async (t) => {
  const broken = new Error('the transaction is broken');
  t.strictSame(await run(failing({ BEGIN: broken }), changes), [broken, broken]);
});

t.test('a connection that is lost before the commit is an outage', async (t) => {
  const lost = new Error('the connection is lost');
  for (const answer of await run(failing({ BEGIN: lost }, 'BEGIN'), changes)) {
    t.match(answer, { name: 'StoreUnavailable', cause: lost });
  }
  const outage = new StoreUnavailable(lost);
  t.strictSame(await run(failing({ BEGIN: outage }, 'BEGIN'), changes), [outage, outage]);
});

t.test('a connection that is lost within the change of a savepoint is an outage for the whole batch', async (t) => {
  const lost = new Error('the connection is lost');
  const connection = failing({ DELETE: lost });
  const { query } = connection;
  connection.query = async (sql) => {
    if (sql.startsWith('SAVEPOINT')) Object.assign(connection, { isOpen: false });
    await query(sql);
    return [['now']];
  };
  const removal = { collection: 'pets', kind: 'delete', id: 1n } as unknown as Change;
  const [answer] = await buildRunChanges('public', toKept(toTables(domain), {}))(connection, [removal]);
  t.match(answer, { name: 'StoreUnavailable', cause: lost });
});
