/** Opens lockers, and shows them whole. */
import { readingOf, refused, transactionOf } from '../../src/contract-first/store/changes/transactions.ts';
import { isRefused, type SqlSteps } from '../../src/contract-first/store/collection.ts';
import type { domain } from './domain.ts';

/** Lockers are in no contract that the compiler knows. */
type Row = Record<string, unknown>;
type Methods = Record<'lockers' | 'codes', Record<string, (...values: unknown[]) => SqlSteps<Row>>>;

/** Uses a code: the locker has one opening more. */
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
