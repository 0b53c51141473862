/** The check of moments: a place must have a zip, and there may be at most five labels. */

import { type DomainTransactions, transactionOf } from '../../src/contract-first/store/changes/transactions.ts';
import type { Fields } from '../../src/contract-first/store/collection.ts';
import { type RecordCodecs, toPlainCodec } from '../../src/contract-first/store/tables/record-codec.ts';
import { toTable } from '../../src/contract-first/store/tables/table.ts';
import { domain } from './domain.ts';

/** Makes several patches in one transaction, and returns the outcome of each. */
const patchTwice = transactionOf<typeof domain>()(function* ({ moments }, [at, ...patches]: [string, ...object[]]) {
  const outcomes: unknown[] = [];
  for (const patch of patches) outcomes.push(yield* moments.update(at as never, patch as never));
  return outcomes;
});

export const transactions: DomainTransactions = {
  all: { moments: { patchTwice } },
  source: new URL('../domain-thread.js?moments', import.meta.url).href,
};

function check({ place, labels }: Fields): string[] | undefined {
  const isPlace = place === undefined || place === null || typeof (place as Fields).zip === 'string';
  const isFew = labels === undefined || labels === null || Object.keys(labels).length <= 5;
  return isPlace && isFew ? undefined : [isPlace ? 'labels must have at most 5 fields' : 'place.zip is missing'];
}

export const loadCodecs = (): RecordCodecs => {
  const plain = toPlainCodec(toTable(domain.moments));
  return { moments: { ...plain, check, checkFields: check } };
};
