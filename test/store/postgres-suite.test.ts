import t from 'tap';
import { domain } from '../../src/generated/domain.ts';
import { openPostgresUrl, schemaOf, startPostgres } from '../postgres.ts';
import { type AnyStore, testStore } from '../store-suite.ts';

t.test('the store passes its tests with pets in PostgreSQL', async (t) => {
  const server = await startPostgres(t);
  function prepare() {
    const url = server.newUrl();
    return {
      open: () => openPostgresUrl(url, {}, 60_000) as unknown as Promise<AnyStore>,
      execute: async (sql: string) => {
        await server.execute(`SET search_path = ${schemaOf(url)}; ${sql}`);
      },
      count: async (table: string) => {
        const { rows } = await server.execute(`SELECT count(*) FROM ${schemaOf(url)}.${table}`);
        return Number(rows[0]?.count);
      },
    };
  }
  testStore(t, { isShared: true, prepare }, domain.pets);
});
