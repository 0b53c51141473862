/** A client of a service's operations, with the types of its contract. */
import { stringify } from 'lossless-json';
import type { Contract } from '../engine/contract/contract.ts';
import { replyFor } from '../engine/contract/replies.ts';
import type { HeadersOf, PathOf, QueryOf, Responses, StatusIn } from '../engine/routes/handler.ts';
import type { InReply, InRequest, OperationId } from '../engine/routes/read-write-only.ts';
import { buildUrlOf } from '../engine/routes/urls.ts';
import { buildToBigints } from '../engine/schema/bigints.ts';
import type { operations } from '../registered.ts';
import type { SendRequest } from './requests.ts';

/** The type of a request body. A body other than JSON is sent unchanged, and needs a `content-type` in `headers`. */
type SentAs<Content> = Content extends { 'application/json': infer Json } ? InRequest<Json> : string | Uint8Array;
type BodyOf<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? { body: SentAs<Content> }
  : Operation extends { requestBody?: { content: infer Content } }
    ? { body?: SentAs<Content> }
    : unknown;
type ParamsOf<Id extends OperationId> = Record<never, never> extends PathOf<Id> ? unknown : { params: PathOf<Id> };

/** The arguments of a call. The server fills in the defaults of missing query parameters and headers. */
type SentTo<Id extends OperationId> = ParamsOf<Id> &
  BodyOf<operations[Id]> & {
    query?: Partial<QueryOf<Id>>;
    headers?: Partial<HeadersOf<Id>> & Record<string, string>;
    /** The API key to send. By default, it is the key of the test server; null sends none. */
    key?: string | null;
  };

/** The type of a reply's body. 64-bit integers are bigint, as in handlers. */
type ReceivedBody<Response> = Response extends { content: infer Content }
  ? Content extends { 'application/json': infer Json }
    ? InReply<Json>
    : string
  : '';
type ReplyTo<Status, Response> = Status extends number
  ? { status: Status; body: ReceivedBody<Response>; headers: Record<string, string> }
  : never;
/** The union of an operation's replies. A test that compares `status` narrows it to the replies with this status. */
type ReplyOf<Id extends OperationId> = {
  [Key in keyof Responses<Id>]: ReplyTo<
    Key extends number ? Key : Exclude<StatusIn<Key extends 'default' ? '4XX' | '5XX' : Key>, keyof Responses<Id>>,
    Responses<Id>[Key]
  >;
}[keyof Responses<Id>];

/** The functions of the client, by operationId. @throws Error if a reply breaks the contract */
export type Client = {
  [Id in OperationId]: (
    ...sent: Record<never, never> extends SentTo<Id> ? [SentTo<Id>?] : [SentTo<Id>]
  ) => Promise<ReplyOf<Id>>;
};

interface AnySent {
  params?: object;
  query?: object;
  headers?: Record<string, string>;
  body?: unknown;
  key?: string | null;
}

export function buildClient(contract: Contract, request: SendRequest): Client {
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
