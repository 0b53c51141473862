/** For tests of operations: a server on a database of its own, and a client with the types of the contract. */
import { stringify } from 'lossless-json';
import { pino } from 'pino';
import type { Test } from 'tap';
import type { Contract } from '../src/contract-first/engine/contract/contract.ts';
import { replyFor } from '../src/contract-first/engine/contract/replies.ts';
import type { InReply, InRequest, OperationId } from '../src/contract-first/engine/routes/directed.ts';
import type { HeadersOf, PathOf, QueryOf, Responses, StatusIn } from '../src/contract-first/engine/routes/handler.ts';
import { buildShapes } from '../src/contract-first/engine/routes/stored-records.ts';
import { buildUrlOf } from '../src/contract-first/engine/routes/urls.ts';
import { buildToBigints } from '../src/contract-first/engine/schema/bigints.ts';
import type { operations } from '../src/contract-first/registered.ts';
import type { Service as Own } from '../src/contract-first/service.ts';
import { openStore } from '../src/contract-first/store/open-store.ts';
import { domain } from '../src/generated/domain.ts';
import { service } from '../src/generated/service.ts';
import { transactions } from '../src/generated/writing.ts';
import { type OwnStore, withRecords } from './database.ts';
import { KEY, loadOurs, type Request, type Service, type StartOptions, startService } from './service.ts';

/** A body of another type than JSON is sent as it is, with the `content-type` among the headers. */
type SentAs<Content> = Content extends { 'application/json': infer Json } ? InRequest<Json> : string | Uint8Array;
type BodyOf<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? { body: SentAs<Content> }
  : Operation extends { requestBody?: { content: infer Content } }
    ? { body?: SentAs<Content> }
    : unknown;
type ParamsOf<Id extends OperationId> = Record<never, never> extends PathOf<Id> ? unknown : { params: PathOf<Id> };

/** What is left out, and has a default, is left to the server. */
type SentTo<Id extends OperationId> = ParamsOf<Id> &
  BodyOf<operations[Id]> & {
    query?: Partial<QueryOf<Id>>;
    headers?: Partial<HeadersOf<Id>> & Record<string, string>;
    /** In place of the server's own; null sends none. */
    key?: string | null;
  };

/** 64-bit integers are bigint, as in handlers. */
type ReceivedBody<Response> = Response extends { content: infer Content }
  ? Content extends { 'application/json': infer Json }
    ? InReply<Json>
    : string
  : '';
type ReplyTo<Status, Response> = Status extends number
  ? { status: Status; body: ReceivedBody<Response>; headers: Record<string, string> }
  : never;
/** Told apart by their status. */
type ReplyOf<Id extends OperationId> = {
  [Key in keyof Responses<Id>]: ReplyTo<
    Key extends number ? Key : Exclude<StatusIn<Key extends 'default' ? '4XX' | '5XX' : Key>, keyof Responses<Id>>,
    Responses<Id>[Key]
  >;
}[keyof Responses<Id>];

/** By operationId. @throws Error when a reply breaks the contract */
export type Client = {
  [Id in OperationId]: (
    ...sent: Record<never, never> extends SentTo<Id> ? [SentTo<Id>?] : [SentTo<Id>]
  ) => Promise<ReplyOf<Id>>;
};

export interface TestServer extends Service {
  client: Client;
  /** The key that the client sends. */
  key: string;
}

const LIMITS = { createTimeout: 60_000, maxCreates: 10_000, checkTimeout: 60_000 };

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
  const shapes = buildShapes(contract, domain);
  return withRecords(openStore({ kind: 'memory' }, domain, LIMITS, { shapes, transactions })) as OwnStore;
}

interface AnySent {
  params?: object;
  query?: object;
  headers?: Record<string, string>;
  body?: unknown;
  key?: string | null;
}

function buildClient(contract: Contract, request: Request): Client {
  const urlOf = buildUrlOf(contract);
  const calls = [...contract.operations.values()].map(({ id, method, replies }) => {
    const call = async ({ params = {}, query = {}, body, ...others }: AnySent = {}) => {
      const url = urlOf(id as OperationId, params as never, query);
      const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : stringify(body);
      const { status, headers, ...reply } = await request(url, { method, body: bytes, ...others });
      const int64s = replyFor(replies, status)?.int64s;
      return { status, headers, body: buildToBigints(int64s)?.(reply.body) ?? reply.body };
    };
    return [id, call];
  });
  return Object.fromEntries(calls);
}
