/** The transactions of the orders' domain, and the checks of its records. */

import type { DomainTransactions } from '../../src/contract-first/store/changes/transactions.ts';
import type { Fields } from '../../src/contract-first/store/collection.ts';
import { type RecordCodecs, toPlainCodec } from '../../src/contract-first/store/tables/record-codec.ts';
import { toTable } from '../../src/contract-first/store/tables/table.ts';
import { pets } from '../../src/pets/domain.ts';
import * as orders from './transactions.ts';

export const transactions: DomainTransactions = {
  all: { orders },
  source: new URL('../domain-thread.js?orders', import.meta.url).href,
};

const plain = toPlainCodec(toTable(pets));
const check = ({ name }: Fields) => (name === 'Unfit' ? ['name is not allowed'] : undefined);

export const loadCodecs = (): RecordCodecs => ({ pets: { ...plain, check } });
