/** The parts of the domain and its contract that the store needs. The writing thread loads this file if there are transactions. */
import { buildShapes } from './engine/routes/stored-records.ts';
import { toErrorBody } from './errors.ts';
import { domain } from './generated/domain.ts';
import { transactions as all } from './generated/transactions.ts';
import { loadOwnContract } from './own-contract.ts';
import type { Transactions } from './store/transactions.ts';

export const transactions: Transactions = { all, source: import.meta.url };

export const loadShapes = async () => buildShapes(await loadOwnContract({ toErrorBody, domain }), domain);
