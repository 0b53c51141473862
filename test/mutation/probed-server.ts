/**
 * Runs a server in memory, and checks whether it does what a contract demands, and whether its replies fit that
 * contract.
 */
import { pino } from 'pino';
import type { ReadContract } from '../../src/contract-first/engine/contract/contract.ts';
import { toErrorBody } from '../../src/contract-first/engine/errors/error-body.ts';
import { SECURITY_HEADERS } from '../../src/contract-first/engine/http/common-headers.ts';
import { buildSunset } from '../../src/contract-first/engine/replies/deprecation.ts';
import type { AnyHandler } from '../../src/contract-first/engine/routes/handler.ts';
import type { Handlers } from '../../src/contract-first/engine/routes/operations.ts';
import { buildServer } from '../../src/contract-first/engine/server.ts';
import { toStoredKey } from '../../src/contract-first/store/api-keys.ts';
import { type Store, StoreUnavailable } from '../../src/contract-first/store/store.ts';
import { domain } from '../../src/generated/domain.ts';
import { loadConfig } from '../config.ts';
import { type CheckedReply, ContractCheck } from '../contract-check.ts';
import { openUrl } from '../database.ts';
import { type Json, type Operation, readOperations, responseKeyOf } from '../properties/operations.ts';
import { finished } from '../service.ts';
import type { Probe } from './probes.ts';

/**
 * Converts the place of an error reply to the common place of all failures of the operation: a field that is optional
 * in errors must be shown by only one of them.
 */
const toFailures = (place: string) => place.replace(/ (4\w\w|5\w\w|default)$/, ' failures');

/** Every documented status, header and field of every operation, such as `getPet 200 body.name`. */
function documentedBy(operations: Operation[]): Set<string> {
  return new Set(
    operations.flatMap(({ id, responses }) =>
      Object.entries(responses).flatMap(([status, { headers = {}, content = {} }]) => {
        const place = `${id} ${status}`;
        const names = Object.keys(headers).map((name) => `${place} header ${name.toLowerCase()}`);
        const bodies = Object.values<Json>(content).flatMap(({ schema = {} }) =>
          fieldsOf(schema, `${place} body`, `${toFailures(place)} body`),
        );
        return [place, ...names, ...bodies];
      }),
    ),
  );
}

/** Returns the parts of its declared response that a reply shows, such as `getPet 200`. */
function shownBy({ headers, text }: CheckedReply, place: string): string[] {
  const names = Object.keys(headers).map((name) => `${place} header ${name}`);
  const isJson = /[/+]json\b/.test(headers['content-type'] ?? '');
  const body = isJson && text ? JSON.parse(text) : text;
  const bodies = [place, toFailures(place)].flatMap((one) => (text ? placesOf(body, `${one} body`) : []));
  return [place, ...names, ...bodies];
}

function fieldsOf({ properties = {}, required = [], items }: Json, place: string, ofOptional = place): string[] {
  const shown = Object.entries<Json>(properties).filter(([, { writeOnly }]) => !writeOnly);
  const fields = shown.flatMap(([name, field]) =>
    fieldsOf(field, `${required.includes(name) ? place : ofOptional}.${name}`),
  );
  return [place, ...fields, ...(items ? fieldsOf(items, `${place}[]`) : [])];
}

function placesOf(value: Json, place: string): string[] {
  if (Array.isArray(value)) return [place, ...value.flatMap((item) => placesOf(item, `${place}[]`))];
  if (typeof value !== 'object' || value === null) return [place];
  return [place, ...Object.entries(value).flatMap(([name, field]) => placesOf(field, `${place}.${name}`))];
}

const KEYS = {
  valid: 'key-of-the-probes-0123456789',
  powerless: 'powerless-key-0123456789',
  limited: 'limited-key-0123456789',
  unknown: 'another-key-0123456789',
  none: undefined,
};

/** Errors that a client can react to, so the contract must declare them. */
const CLIENT_ERRORS = [400, 401, 403, 413, 415];

export interface Findings {
  /** Each probe and its reply, as text. */
  replies: string[];
  /** Demands of the contract that the server does not meet, each with the index of its probe. */
  ignored: { probe: number; why: string }[];
  /** Replies that do not fit the contract. */
  unfit: string[];
  /** Requests that the contract allows, but that fail or that a handler refuses. */
  failed: string[];
  /** Errors that a client can react to, but that only the default response documents. */
  defaulted: string[];
  /** Parts of the contract that no reply shows. */
  unkept: string[];
}

/** Sends probes to a server, then stops it. */
export type Run = (probes: Probe[]) => Promise<Findings>;

/** Starts a server of this contract with an empty store. @throws Error where the contract cannot be served */
export async function startProbedServer(read: ReadContract, handlers: Handlers): Promise<Run> {
  const { store, fail } = openFailingStore();
  await store.createKey(toStoredKey(KEYS.powerless, 'powerless', undefined, []));
  await store.createKey(toStoredKey(KEYS.limited, 'limited', undefined, undefined, '1/d'));
  let isReached = false;
  const noted = Object.entries(handlers).map(([id, handler]): [string, AnyHandler] => [
    id,
    (call) => {
      isReached = true;
      return handler(call);
    },
  ]);
  const contract = finished(read);
  const app = await buildServer({
    contract,
    name: 'petstore',
    toErrorBody,
    domain,
    handlers: Object.fromEntries(noted),
    store,
    apiKeys: [KEYS.valid],
    trustProxy: [],
    logger: pino({ level: 'silent' }),
    lines: { write: () => {} },
    requestTimeout: 30_000,
    limits: loadConfig({ KEY_RATE: '999999999/d' }),
    stop: { isAsked: false },
  });
  await app.ready();
  const check = new ContractCheck(read.json);
  const operations = readOperations(contract.json);
  const promises = documentedBy(operations);
  const findings: Findings = { replies: [], ignored: [], unfit: [], failed: [], defaulted: [], unkept: [] };
  const dependent = new Map<string, string[]>();
  const followed = new Set<string>();
  const sunsets = new Map(
    [...contract.operations].map(([id, { deprecation }]) => [id, buildSunset(deprecation?.sunset)]),
  );

  async function send({ method, url, key, body, headers }: Probe): Promise<CheckedReply> {
    const authorization = KEYS[key] && { authorization: `Bearer ${KEYS[key]}` };
    const reply = await app.inject({
      method: method as 'GET',
      url,
      headers: { host: 'petstore.example', ...authorization, ...headers },
      ...(body !== undefined && { payload: body as Buffer }),
    });
    // Adds the security headers, which the server writes straight to its responses: the response of an injected request
    // lacks them.
    const texts = Object.entries({ ...SECURITY_HEADERS, ...reply.headers }).map(([name, value]) => [
      name,
      String(value),
    ]);
    return { status: reply.statusCode, headers: Object.fromEntries(texts), text: reply.payload };
  }

  async function ask(probe: Probe): Promise<void> {
    const { method, url } = probe;
    isReached = false;
    fail(probe.store);
    const reply = await send(probe);
    fail(undefined);
    const { status, headers, text } = reply;
    const summary = [`${method} ${shorten(url)} ${shorten(String(probe.body ?? ''))}:`, status, shorten(text)].join(
      ' ',
    );
    const ignore = (problem: string) =>
      findings.ignored.push({ probe: findings.replies.length - 1, why: `${summary}: ${problem}` });
    const refuse = (problem: string) => findings.unfit.push(`${summary}: ${problem}`);
    const { 'x-request-id': _id, date: _date, ratelimit: _left, 'retry-after': _reset, ...lasting } = headers;
    findings.replies.push(`${summary} ${JSON.stringify(lasting)} ${text}`);

    // An operation after its sunset answers every request with 410.
    const expect = status === 410 && sunsets.get(probe.operation ?? '')?.isPast ? { status: '410' } : probe.expect;
    const isMet = new RegExp(`^(${expect.status ?? '...'})$`).test(String(status));
    if (status >= 500 && (!isMet || !expect.status)) findings.failed.push(`${summary}: must not fail`);
    // A request that a handler refuses breaks a rule of the handler, because the rules of the contract are checked
    // before.
    else if (!isMet && isReached && status >= 400) findings.failed.push(`${summary}: must be ${expect.status}`);
    else if (!isMet) ignore(`must be ${expect.status}`);
    if (expect.isRefused && isReached) ignore('must not reach the handler');
    if (expect.shows && !text.includes(expect.shows)) ignore(`must show ${expect.shows}`);
    for (const [name, value] of Object.entries(expect.headers ?? {})) {
      if ((headers[name] ?? null) !== value) ignore(`must have ${name} ${value}, not ${headers[name]}`);
    }
    const [, limit] = /[?&]limit=(-?\d+)(?:&|$)/.exec(url) ?? [];
    if (limit && status === 200 && text.startsWith('[') && JSON.parse(text).length > Math.max(0, Number(limit))) {
      refuse(`must have ${limit} at most`);
    }
    if (expect.dependsOn) {
      const place = `${probe.operation} ${expect.dependsOn}`;
      // A failure is reported as a finding of its own, so here it counts as a different reply.
      dependent.set(place, [...(dependent.get(place) ?? []), status < 500 ? `${status} ${text}` : summary]);
    }
    if (expect.sameAs) {
      const { text: other } = await send({ ...probe, url: expect.sameAs });
      if (other !== text) ignore(`must be the same as ${expect.sameAs}: ${shorten(other)}`);
    }
    for (const { url: next, isRequest } of linksOf(headers).filter((link) => !followed.has(link.url))) {
      followed.add(next);
      const found = await send({ method: 'GET', url: next, headers: {}, key: 'valid', expect: {} });
      if (found.text.includes('route_not_found')) ignore(`hands out ${next}, where nothing is`);
      else if (isRequest && found.status >= 400) {
        findings.failed.push(`${summary}: hands out ${next}, which is ${found.status}`);
      }
    }
    check.problemsOf(method, url, reply).forEach(refuse);
    const operation = operations.find(({ id }) => id === probe.operation);
    if (!operation) return;
    const key = responseKeyOf(operation, status);
    if (key === 'default' && CLIENT_ERRORS.includes(status)) {
      findings.defaulted.push(`${summary}: is left to the default response`);
    }
    const response = `${probe.operation} ${key}`;
    for (const shown of shownBy(reply, response)) promises.delete(shown);
  }

  return async (probes) => {
    for (const probe of probes) await ask(probe);
    await app.close();
    await store.close();
    findings.unkept.push(...[...promises].map((promise) => `${promise} is documented, and no reply has it`));
    for (const [place, replies] of dependent) {
      if (new Set(replies).size > 1) continue;
      findings.unfit.push(`${place} is taken, and every reply is the same without it`);
    }
    return findings;
  };
}

/** A store in memory that fails on demand. */
function openFailingStore(): { store: Store; fail(how: Probe['store']): void } {
  const store = openUrl('sqlite::memory:');
  let failure: Probe['store'];
  const call = (method: (...values: unknown[]) => unknown, values: unknown[]) => {
    if (failure === 'down') throw new StoreUnavailable('a probe');
    if (failure === 'broken') throw new Error('a probe');
    return method(...values);
  };
  /** Makes all methods of an object fail, and those of the objects in it. */
  const failing = (part: object): object =>
    new Proxy(part, {
      get(_, name) {
        const value = Reflect.get(part, name);
        if (typeof value === 'function') return (...values: unknown[]) => call(value.bind(part), values);
        return typeof value === 'object' && value !== null ? failing(value) : value;
      },
    });
  const fail = (how: Probe['store']) => {
    failure = how;
  };
  return { store: failing(store) as Store, fail };
}

/**
 * The URLs in the headers of a reply. The URL of an operation's successor cannot simply be requested: it may need a
 * parameter, or another method.
 */
function linksOf({ location, link = '' }: Record<string, string>): { url: string; isRequest: boolean }[] {
  const links = [...link.matchAll(/<([^>]*)>; rel="([^"]*)"/g)].map(([, url, rel]) => {
    return { url: url as string, isRequest: rel !== 'successor-version' };
  });
  return location ? [{ url: location, isRequest: true }, ...links] : links;
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
