/** The transactions of the shops' domain. */
import type { DomainTransactions } from '../../src/contract-first/store/changes/transactions.ts';
import * as lines from './transactions.ts';

/** Clerks belong to no shop. */
const all = { lines, clerks: lines };

export const transactions: DomainTransactions = {
  all,
  source: new URL('../domain-thread.js?tenants', import.meta.url).href,
};

export const loadCodecs = () => ({});
