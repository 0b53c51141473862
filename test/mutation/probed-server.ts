/** A server in memory that is put to the probe: whether it does what the contract demands, and its replies fit it. */
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { loadConfig } from '../../src/config.ts';
import type { Contract, Json } from '../../src/contract/contract.ts';
import { buildServer } from '../../src/server.ts';
import type { AnyHandler } from '../../src/wiring/handler.ts';
import type { Handlers } from '../../src/wiring/operations.ts';
import { ContractCheck, type Reply } from '../contract-check.ts';
import { readOperations } from '../properties/operations.ts';
import { documentedBy, shownBy } from './documented.ts';
import { openFailingStore } from './failing-store.ts';
import type { Probe, ProbeRequest } from './probe.ts';

const KEYS = { valid: 'key-of-the-probes-0123456789', unknown: 'another-key-0123456789', none: undefined };

/** What a client can do something about, so that it must be documented. */
const CLIENT_ERRORS = [400, 401, 413, 415];

/** What probes have shown; the first three are empty where all is well. */
export interface Findings {
  /** Demands of the contract that the server does not meet: it goes by something else. */
  ignored: string[];
  /** Defaults that a handler is not given. */
  missed: string[];
  /** Replies that are not as the contract describes them. */
  unfit: string[];
  /** The replies to requests that leave something to its default. */
  defaulted: string[];
}

/** The operations whose handlers a request has reached, and what they were given. */
type Reached = Map<string, Record<'query' | 'body', Json>>;

export interface ProbedServer {
  run(probes: Probe[]): Promise<Findings>;
  /** What no reply has shown yet. */
  unseen: Set<string>;
  close(): Promise<void>;
}

/** @throws ContractError where the contract cannot be served with these handlers */
export async function startProbedServer(contract: Contract, handlers: Handlers): Promise<ProbedServer> {
  const reached: Reached = new Map();
  const { store, fail } = openFailingStore();
  const app = await buildServer({
    contract,
    handlers: recorded(handlers, reached),
    store,
    apiKeys: [KEYS.valid],
    logger: pino({ level: 'silent' }),
    requestTimeout: 30_000,
    limits: loadConfig({}),
    isDraining: () => false,
    untilNoneListens: async () => {},
  });
  await app.ready();
  const check = new ContractCheck(contract.json);
  const operations = readOperations(contract.json);
  const unseen = documentedBy(operations);
  const followed = new Set<string>();

  async function ask({ operation, request, expect }: Probe, findings: Findings): Promise<void> {
    reached.clear();
    fail(request.store);
    const reply = await send(app, request);
    fail(undefined);
    const { status, headers, text } = reply;
    const summary = `${request.method} ${shorten(request.url)} ${shorten(request.body ?? '')}: ${status} ${shorten(text)}`;
    const ignore = (problem: string) => findings.ignored.push(`${summary}: ${problem}`);
    const refuse = (problem: string) => findings.unfit.push(`${summary}: ${problem}`);

    const call = reached.get(operation ?? '');
    const passes = call !== undefined;
    if (status >= 500 && status !== expect.status) refuse('must not fail');
    else if (passes !== expect.passes) ignore(passes ? 'must not pass' : 'must pass');
    else if (passes) {
      if (expect.served && status >= 400 && status !== 404) refuse('must be served');
      if (expect.status && status !== expect.status) refuse(`must be ${expect.status}`);
    } else {
      if (status !== expect.status) ignore(`must be ${expect.status}`);
      if (expect.names && !text.includes(expect.names)) ignore(`must name ${expect.names}`);
    }
    for (const [name, value] of Object.entries(expect.headers ?? {})) {
      if ((headers[name] ?? null) !== value) ignore(`must have ${name} ${value}, not ${headers[name]}`);
    }
    if (expect.finds) {
      const { part, name, text: due } = expect.finds;
      const given = call?.[part]?.[name];
      if (String(given) !== due) findings.missed.push(`${summary}: must give the handler ${part}.${name} ${due}`);
      findings.defaulted.push(text);
    }
    if (expect.sameAs) {
      const { text: other } = await send(app, { ...request, url: expect.sameAs });
      if (other !== text) ignore(`must be the same as ${expect.sameAs}: ${shorten(other)}`);
    }
    for (const url of handedOut(headers)) {
      if (followed.has(url)) continue;
      followed.add(url);
      const found = await send(app, { method: 'GET', url, key: 'valid' });
      if (found.text.includes('route_not_found')) ignore(`hands out ${url}, where nothing is`);
      else if (found.status >= 400) refuse(`hands out ${url}, which is ${found.status}`);
    }
    check.problemsOf(request.method, request.url, reply).forEach(refuse);
    const responses = operations.find(({ id }) => id === operation)?.responses;
    if (!responses) return;
    const key = responses[status] ? String(status) : 'default';
    if (key === 'default' && CLIENT_ERRORS.includes(status)) refuse('is left to the default response');
    for (const shown of shownBy(reply, `${operation} ${key}`)) unseen.delete(shown);
  }

  return {
    unseen,
    async run(probes) {
      const findings: Findings = { ignored: [], missed: [], unfit: [], defaulted: [] };
      for (const probe of probes) await ask(probe, findings);
      return findings;
    },
    async close() {
      await app.close();
      await store.close();
    },
  };
}

/** The handlers, each noting that it was reached, and with what. */
function recorded(handlers: Handlers, reached: Reached): Handlers {
  return Object.fromEntries(
    Object.entries(handlers).map(([id, handler]): [string, AnyHandler] => [
      id,
      (call) => {
        reached.set(id, structuredClone({ query: call.query, body: call.body }));
        return handler(call);
      },
    ]),
  );
}

async function send(app: FastifyInstance, { method, url, key, body, type }: ProbeRequest): Promise<Reply> {
  const reply = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      host: 'petstore.example',
      ...(KEYS[key] && { authorization: `Bearer ${KEYS[key]}` }),
      ...(type && { 'content-type': type }),
    },
    ...(body !== undefined && { payload: body }),
  });
  const headers = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name, String(value)]));
  return { status: reply.statusCode, headers, text: reply.payload };
}

/** The URLs that a reply tells the client to go on with. */
function handedOut({ location, link }: Record<string, string>): string[] {
  return [...(location ? [location] : []), ...[...(link ?? '').matchAll(/<([^>]*)>/g)].map(([, url]) => url as string)];
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
