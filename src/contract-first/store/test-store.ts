/** Opens a store in memory, for tests of a domain without HTTP. */
import type { AnyDomain, CollectionsOf } from './description.ts';
import type { Shapes } from './shape.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import type { AnyTransactions, CallsOf } from './transactions.ts';

const LIMITS = { createTimeout: 1000, maxCreates: 1000 };

/** Returns the collections of handlers, with their transactions. Without shapes, records are only checked by the column types. */
export function openTestStore<Domain extends AnyDomain, All extends AnyTransactions = Record<never, never>>(
  domain: Domain,
  all?: All,
  shapes?: Shapes<Domain>,
): CollectionsOf<Domain, CallsOf<All>> {
  const transactions = { all: all ?? {}, source: '' };
  const { collections } = openSqlite(':memory:', domain, LIMITS, { shapes, transactions });
  return collections as CollectionsOf<Domain, CallsOf<All>>;
}
