/** For tests of operations: a server on a database of its own, and a client with the types of the contract. */

import { pino } from 'pino';
import type { Test } from 'tap';
import type { Contract } from '../src/contract-first/engine/contract/contract.ts';
import { buildCodecs } from '../src/contract-first/engine/routes/stored-records.ts';
import type { Service as Own } from '../src/contract-first/service.ts';
import { openStore } from '../src/contract-first/store/open-store.ts';
import { buildClient, type Client } from '../src/contract-first/testing/client.ts';
import { domain } from '../src/generated/domain.ts';
import { service } from '../src/generated/service.ts';
import { transactions } from '../src/generated/writing.ts';
import { LIMITS, type OwnStore, withRecords } from './database.ts';
import { KEY, loadOurs, type Service, type StartOptions, startService } from './service.ts';

export interface TestServer extends Service {
  client: Client;
  /** The key that the client sends. */
  key: string;
}

/** With all that the domain has, its transactions too. Ends with the test, whose output has the cause of a 500. */
export async function openTestServer(t: Test, options: StartOptions = {}): Promise<TestServer> {
  const { contract } = await loadOurs();
  const store = options.store ?? openOwn(contract);
  const logger = pino({ level: 'error' }, process.stderr);
  const own: Own = service;
  const plugins = await own.loadPlugins?.();
  const server = await startService(t, { addPlugins: plugins?.addPlugins, logger, ...options, store });
  return { ...server, key: KEY, client: buildClient(contract, server.request) };
}

function openOwn(contract: Contract): OwnStore {
  const codecs = buildCodecs(contract, domain);
  return withRecords(openStore({ kind: 'memory' }, domain, LIMITS, { codecs, transactions })) as OwnStore;
}
