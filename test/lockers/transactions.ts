/** Transactions that open lockers, and return whole records with the internal columns. */
import { readingOf, refused, transactionOf } from '../../src/contract-first/store/changes/transactions.ts';
import { isRefused, type SqlSteps } from '../../src/contract-first/store/collection.ts';
import type { domain } from './domain.ts';

/** The compiler knows no contract with lockers. */
type Row = Record<string, unknown>;
type Methods = Record<'lockers' | 'codes', Record<string, (...values: unknown[]) => SqlSteps<Row>>>;

/** Uses a code once, and counts one more opening of its locker. */
export const open = transactionOf<typeof domain>()(function* (given, code: string) {
  const { lockers, codes } = given as unknown as Methods;
  const used = yield* codes.update?.(code, { usesLeft: { add: -1 } }) as SqlSteps<Row | undefined>;
  if (used === undefined || isRefused(used)) return refused('no_such_code');
  const { openings } = yield* lockers.get?.(used.lockerId) as SqlSteps<Row>;
  const changes = { openings: (openings as bigint) + 1n, lastCode: code, settings: { count: 1 } };
  const locker = yield* lockers.update?.(used.lockerId, changes) as SqlSteps<Row>;
  return { locker, all: [locker], internal: ['site'], left: used.usesLeft };
});

export const see = readingOf<typeof domain>()(function* (given, id: bigint) {
  const { lockers } = given as unknown as Methods;
  const page = yield* lockers.list?.({ limit: 9, site: 'north' }) as SqlSteps<Row>;
  const all = yield* lockers.all?.({ most: 9, order: 'busiest' }) as SqlSteps<Row>;
  return { locker: yield* lockers.get?.(id) as SqlSteps<Row>, page, all };
});
