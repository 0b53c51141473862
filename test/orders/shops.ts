/** Opens stores of the orders' domain, on both kinds of databases. */
import { existsSync } from 'node:fs';
import type { Test } from 'tap';
import type { OfDomain } from '../../src/contract-first/store/changes/transactions.ts';
import type { AnyCollection, Fields, Idempotency } from '../../src/contract-first/store/collection.ts';
import { openStore } from '../../src/contract-first/store/open-store.ts';
import { openPostgres } from '../../src/contract-first/store/postgres/open-postgres.ts';
import type { Store, StoreLimits } from '../../src/contract-first/store/store.ts';
import type { AnyDomain } from '../../src/contract-first/store/tables/description.ts';
import { LIMITS } from '../database.ts';
import { settingsOf, startPostgres } from '../postgres.ts';
import { domain as DOMAIN } from './domain.ts';
import { loadCodecs, transactions } from './writing.ts';

const MADE = { codecs: loadCodecs(), transactions };

type Method = (...values: unknown[]) => Promise<unknown>;

export interface Shop {
  store: Store;
  /** The collection of orders with its transactions. */
  orders: AnyCollection & Record<string, Method>;
  coupons: AnyCollection;
  pets: AnyCollection;
}

/** Each call opens another store on the same database. */
export type Open = (domain?: AnyDomain, made?: OfDomain, hooks?: Partial<StoreLimits>) => Promise<Shop>;

export const toShop = (store: Store): Shop => ({ store, ...(store.collections as Omit<Shop, 'store'>) });

export const idempotencyOf = (key: string, digest = ''): Idempotency => ({
  caller: 'Ada',
  operation: 'pay',
  key,
  hours: 24,
  digest,
});

export const keyOf = (order: unknown) => (order as Fields).number as string;

/** Runs the tests on SQLite files, and on PostgreSQL. */
export function onBoth(t: Test, test: (t: Test, prepare: (t: Test) => Open) => void, made: OfDomain = MADE): void {
  t.test('on a SQLite file', async (t) => {
    let count = 0;
    test(t, (t) => {
      // Each test has a folder, in which each database is a file.
      const folder = count++ && existsSync(t.testdirName) ? t.testdirName : t.testdir();
      const file = `${folder}/${count}.db`;
      return async (domain = DOMAIN, own = made, hooks = {}) => {
        const store = openStore({ kind: 'sqlite', file }, domain, { ...LIMITS, ...hooks }, own) as unknown as Store;
        t.teardown(() => store.close());
        return toShop(store);
      };
    });
  });
  t.test('on PostgreSQL', async (t) => {
    const server = await startPostgres(t);
    test(t, (t) => {
      const settings = settingsOf(server.newUrl());
      return async (domain = DOMAIN, own = made, hooks = {}) => {
        const store = await openPostgres(settings, domain, { ...LIMITS, ...hooks }, own, 60_000);
        t.teardown(() => store.close());
        return toShop(store);
      };
    });
  });
}
