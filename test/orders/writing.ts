/** The transactions of the orders' domain, and what records may be. */
import { pets } from '../../src/pets/domain.ts';
import type { Fields } from '../../src/store/collection.ts';
import { type Shapes, toPlainShape } from '../../src/store/shape.ts';
import { toTable } from '../../src/store/table.ts';
import type { Transactions } from '../../src/store/transactions.ts';
import * as orders from './transactions.ts';

export const transactions: Transactions = {
  all: { orders },
  source: new URL('../domain-thread.js?orders', import.meta.url).href,
};

const plain = toPlainShape(toTable(pets));
const check = ({ name }: Fields) => (name === 'Unfit' ? ['name is not allowed'] : undefined);

export const loadShapes = (): Shapes => ({ pets: { ...plain, check } });
