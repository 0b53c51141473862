import t from 'tap';
import { backUp, restore } from '../../src/contract-first/operate/commands/backup.ts';
import type { Service } from '../../src/contract-first/start/service.ts';
import type { AnyCollection } from '../../src/contract-first/store/collection.ts';
import { type Database, parseDatabaseUrl } from '../../src/contract-first/store/database-url.ts';
import { move } from '../../src/contract-first/store/move.ts';
import { openStore } from '../../src/contract-first/store/open-store.ts';
import type { Store } from '../../src/contract-first/store/store.ts';
import { LIMITS } from '../database.ts';
import { domain } from '../lockers/domain.ts';
import { startPostgres } from '../postgres.ts';

t.test('a backup contains internal columns and records without a schema, and a restore brings both back', async (t) => {
  const folder = t.testdir();
  const open = () => openStore({ kind: 'sqlite', file: `${folder}/a.db` }, domain, LIMITS) as unknown as Store;
  type Both = Record<'lockers' | 'codes', AnyCollection>;
  const store = open();
  const { lockers, codes } = store.collections as Both;
  const locker = await lockers.create({ place: 'A', openings: 2n ** 63n - 1n, settings: { text: '\0' } });
  const code = await codes.create({ code: 'x', lockerId: 1n, price: 0.1 });
  const env = { DATABASE_URL: `sqlite:${folder}/a.db` };
  await backUp(`${folder}/copy.db`, 'lockers', env);
  await lockers.update(1n, { openings: 0n });
  await store.close();
  await restore(`${folder}/copy.db`, { name: 'lockers', domain } as unknown as Service, env);
  const restored = open();
  t.teardown(() => restored.close());
  const after = restored.collections as Both;
  t.same(await after.lockers.read(1n), locker);
  t.same(await after.codes.read('x'), code);
});

t.test('`move` copies internal columns and records without a schema to PostgreSQL and back', async (t) => {
  const server = await startPostgres(t);
  const folder = t.testdir();
  const urls = [`sqlite:${folder}/a.db`, server.newUrl(), `sqlite:${folder}/b.db`];
  const [first, second, last] = urls.map((url) => parseDatabaseUrl(url, 'petstore')) as [Database, Database, Database];
  const open = async (database: Database) => {
    const store = (await openStore(database, domain, LIMITS)) as unknown as Store;
    t.teardown(() => store.close());
    return store.collections as Record<'lockers' | 'codes', AnyCollection>;
  };
  const before = await open(first);
  const locker = await before.lockers.create({ place: 'A', openings: 2n ** 63n - 1n, settings: { text: '\0' } });
  const code = await before.codes.create({ code: 'x', lockerId: 1n, price: 0.1 });
  await move(first, second, domain);
  await move(second, last, domain);
  const after = await open(last);
  t.same(await after.lockers.read(1n), locker);
  t.same(await after.codes.read('x'), code);
});
