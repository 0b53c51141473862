/** The transactions of the lockers' domain, and the checks of its records. */
import { buildCodecs } from '../../src/contract-first/engine/routes/stored-records.ts';
import type { DomainTransactions } from '../../src/contract-first/store/changes/transactions.ts';
import { domain } from './domain.ts';
import { loadLockers } from './service.ts';
import * as lockers from './transactions.ts';

export const transactions: DomainTransactions = {
  all: { lockers },
  source: new URL('../domain-thread.js?lockers', import.meta.url).href,
};

export const loadCodecs = async () => buildCodecs(await loadLockers(), domain);
