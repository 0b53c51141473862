/** Starts the service on a real socket for one test. Every reply is checked against the contract. */
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import type { Test } from 'tap';
import { checkOperations } from '../src/contract-first/contract/checks/checked-operations.ts';
import { toRecords } from '../src/contract-first/contract/checks/records.ts';
import { finish } from '../src/contract-first/contract/finish.ts';
import { makePage } from '../src/contract-first/contract/page/page.ts';
import { loadContract } from '../src/contract-first/contract/read/load-contract.ts';
import type { Contract, ReadContract } from '../src/contract-first/engine/contract/contract.ts';
import { readFinished } from '../src/contract-first/engine/contract/finished.ts';
import { toErrorBody } from '../src/contract-first/engine/errors/error-body.ts';
import { type ListenAddress, listen } from '../src/contract-first/engine/http/connections/listening.ts';
import {
  type CompiledOperations,
  compileOperations,
  type TeamParts,
} from '../src/contract-first/engine/routes/compiled-operations.ts';
import type { Handlers } from '../src/contract-first/engine/routes/operations.ts';
import { buildServer, type ServerOptions } from '../src/contract-first/engine/server.ts';
import type { AnyDomain } from '../src/contract-first/store/tables/description.ts';
import { buildClient, type Client } from '../src/contract-first/testing/client.ts';
import {
  buildRequest as buildRequestOf,
  type ReceivedReply,
  type RequestOptions,
  type SendRequest,
  send as sendAny,
} from '../src/contract-first/testing/requests.ts';
import { domain } from '../src/generated/domain.ts';
import { handlers } from '../src/generated/handlers.ts';
import { loadConfig } from './config.ts';
import { ContractCheck } from './contract-check.ts';
import { type OwnStore, openUrl } from './database.ts';

export type { ReceivedReply, RequestOptions, SendRequest } from '../src/contract-first/testing/requests.ts';

const CONTRACT = new URL('../openapi/petstore.yaml', import.meta.url);
const CLIENTS = new URL('../openapi/clients/', import.meta.url);

export const KEY = 'key-of-the-tests-0123456789';

export interface Service {
  app: FastifyInstance;
  store: OwnStore;
  port: number;
  request: SendRequest;
  /** Calls operations by their names, with the types of the contract. */
  client: Client;
}

export interface StartOptions extends Partial<Omit<ServerOptions, 'store' | 'contract'>> {
  /** The contract. If it is only read, it is first checked and finished as by the build. */
  contract?: Contract | ReadContract;
  store?: OwnStore;
  databaseUrl?: string;
  /** The destination of the log, at level info; by default there is no log. */
  log?: DestinationStream;
  /**
   * The YAML of the contract that replies are checked against, in place of the checked-in one. The server gets it as
   * `contract`.
   */
  yaml?: string;
  /** Sends all requests one after the other on the same connection, for tests that send very many. */
  keepAlive?: boolean;
  /** The address to listen at; by default a free port of 127.0.0.1. */
  address?: ListenAddress;
}

const FIRST_RELEASE = new URL('../openapi/released/1.0.0.yaml', import.meta.url);

/**
 * Returns the handlers that an edited contract needs. The contract may be the first release, which lacks later
 * operations.
 */
export function handlersFor({ operations }: Pick<Contract, 'operations'>): Handlers {
  const isWanted = (id: string) =>
    operations.has(id) || readFileSync(FIRST_RELEASE, 'utf8').includes(`operationId: ${id}\n`);
  return Object.fromEntries(Object.entries(handlers).filter(([id]) => isWanted(id)));
}

const contractCheck = new ContractCheck();

/** Reads the checked-in contract from its file. */
export const readOurs = () => loadContract(CONTRACT);

let ours: Promise<{ contract: Contract; compiled: CompiledOperations }> | undefined;

/** Reads and compiles the checked-in contract, once for all tests of a process. */
export function loadOurs() {
  ours ??= readOurs().then((read) => {
    const contract = finished(read);
    return { contract, compiled: compileOperations(contract, { toErrorBody }) };
  });
  return ours;
}

/** Adds the schemas of the records to a contract, for tests of the store. */
export const withRecordsOf = (contract: ReadContract, own: AnyDomain = domain) => ({
  ...contract,
  records: toRecords(contract, own),
});

/** Returns the contract as the server loads it, after the build has checked and finished it. @throws ContractError */
export function finished(contract: ReadContract, own: TeamParts = { toErrorBody, domain }): Contract {
  checkOperations(contract, own);
  const read = readFinished(JSON.parse(JSON.stringify(finish(contract, own.domain))), contract.yaml);
  return { ...read, loadPage: () => makePage(read, new URL('./', CONTRACT)) };
}

export async function startService(t: Test, options: StartOptions = {}): Promise<Service> {
  const { databaseUrl = 'sqlite::memory:', log, yaml, keepAlive, address, ...rest } = options;
  const store = rest.store ?? openUrl(databaseUrl);
  const { contract, ...others } = rest;
  const own = { toErrorBody, domain, ...others };
  const read = contract ? { contract: 'proven' in contract ? contract : finished(contract, own) } : await loadOurs();
  const app = await buildServer({
    ...read,
    name: 'petstore',
    clients: CLIENTS,
    handlers: contract ? handlersFor(contract) : handlers,
    toErrorBody,
    domain,
    store,
    apiKeys: [KEY],
    trustProxy: [],
    logger: log ? pino({}, log) : pino({ level: 'silent' }),
    lines: log ?? { write: () => {} },
    requestTimeout: 30_000,
    limits: loadConfig({}),
    stop: { isAsked: false },
    ...others,
  });
  const agent = keepAlive ? new Agent({ keepAlive, maxSockets: 1 }) : false;
  t.teardown(async () => {
    if (agent) agent.destroy();
    await app.close();
    await store.close();
  });
  await listen(app, address ?? { host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const check = yaml === undefined ? contractCheck : new ContractCheck(yaml);
  const request = buildRequest(port, check, agent);
  return { app, store, port, request, client: buildClient(read.contract, request) };
}

/** Builds a function that sends requests to a port of this machine, and checks the replies. */
export const buildRequest = (port: number, check = contractCheck, agent: Agent | false = false): SendRequest =>
  buildRequestOf(port, check, KEY, agent);

/** Sends a request with the tests' key. Without an agent, each request has its own connection. */
export const send = (port: number, url: string, options: RequestOptions = {}, agent: Agent | false = false) =>
  sendAny(port, url, { ...options, key: options.key === undefined ? KEY : options.key }, agent);

/**
 * Returns the URL of the next page from a Link header, which may contain several links (RFC 8288); undefined on the
 * last page.
 */
export const nextOf = ({ headers }: ReceivedReply) => headers.link?.match(/<([^>]*)>; rel="next"/)?.[1];

/** Yields each page of a list, from this URL to the last page. */
export async function* pagesFrom(request: SendRequest, first: string): AsyncGenerator<ReceivedReply> {
  for (let next: string | undefined = first; next; ) {
    const page: ReceivedReply = await request(next);
    yield page;
    next = nextOf(page);
  }
}
