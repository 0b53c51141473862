/**
 * `contract-first/test`: starts a server of the service for one test, with a database in memory. Takes `t` of node:test
 * or of tap.
 */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { listen } from '../engine/http/connections/listening.ts';
import { DROPPED } from '../engine/routes/route.ts';
import { loadConfig } from '../operate/config.ts';
import type { Domain, Services, ServiceTransactions } from '../registered.ts';
import { loadServiceContract } from '../service-contract.ts';
import { build } from '../start/build.ts';
import { openServiceStore } from '../start/opening.ts';
import type { Service } from '../start/service.ts';
import type { CallsOf } from '../store/changes/transactions.ts';
import type { CollectionsOf } from '../store/tables/description.ts';
import { buildClient, type Client } from './client.ts';
import { ContractCheck } from './contract-check.ts';
import { buildRequest, type SendRequest } from './requests.ts';
import { openOrShare } from './shared-server.ts';

export type { Client } from './client.ts';
export type { ReceivedReply, RequestOptions, SendRequest } from './requests.ts';

/** The context of a test: `t` of node:test or of tap. */
export interface TestContext {
  after(end: () => Promise<void>): unknown;
}

export interface TestOptions {
  /** Services that replace those of `src/services.ts`, such as a fake payment service. */
  services?: Services;
  /**
   * The environment variables of the server. The default is an empty object, because the server does not read the
   * environment of the test's process.
   */
  env?: Record<string, string>;
}

export interface TestServer {
  /** Calls operations by name. A call throws if the reply breaks the contract. */
  client: Client;
  /**
   * Sends any request: `request('/v1/books?limit=2', { method: 'POST', body, key: null })`. Throws if the reply breaks
   * the contract. Prints a warning if the request is not an operation of the contract.
   */
  request: SendRequest;
  /** The collections of the database, by the names that handlers use. */
  collections: CollectionsOf<Domain, CallsOf<ServiceTransactions>>;
  app: FastifyInstance;
  port: number;
  /** The API key that `client` and `request` send, with all scopes. */
  key: string;
}

const TEST_KEY = 'key-of-the-tests-0123456789';

/**
 * Starts a server with a new database, and closes both when the test ends. Prints errors of the server, such as the
 * cause of a 500, to standard error.
 */
export function openTestServer(t: TestContext, service: Service, options: TestOptions = {}): Promise<TestServer> {
  return openOrShare(t, (context) => openServer(context, service, options));
}

async function openServer(t: TestContext, service: Service, { env = {}, ...given }: TestOptions): Promise<TestServer> {
  const config = loadConfig(env, given.services ? { name: service.name } : service);
  const contract = await loadServiceContract(service);
  const store = await openServiceStore(service, contract, { kind: 'memory' }, config);
  const dropped: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => note(line, dropped) });
  const log = { logger, write: process.stderr.write.bind(process.stderr) };
  const app = await build(service, { ...config, apiKeys: [TEST_KEY] }, { contract, store, log, ...given });
  t.after(async () => {
    await app.close();
    await store.close();
  });
  await listen(app, { host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const check = new ContractCheck(contract.yaml.toString());
  const send = buildRequest(port, check, TEST_KEY);
  const request: SendRequest = async (url, options) => {
    const received = await send(url, options);
    reportUnchecked(check, options?.method ?? 'GET', url);
    if (dropped.length > 0) throw new Error(dropped.shift());
    return received;
  };
  const collections = store.collections as unknown as TestServer['collections'];
  return { client: buildClient(contract, request), request, collections, app, port, key: TEST_KEY };
}

/**
 * Prints each request to a URL outside of the contract, because its reply was not checked. The URL belongs to a route
 * of a plugin, or is misspelt.
 */
function reportUnchecked(check: ContractCheck, method: string, url: string): void {
  if (!check.isOperation(method, url))
    process.stderr.write(`${method} ${url} is not an operation of the contract: its reply was not checked.\n`);
}

/** Prints errors, and collects the warnings about handlers that ignore the Idempotency-Key of a request. */
function note(line: string, dropped: string[]): void {
  const { level, msg } = JSON.parse(line);
  if (level >= 50) process.stderr.write(line);
  if (String(msg).endsWith(DROPPED)) dropped.push(msg);
}
