/** Adds an operation with the schemas of a test to the contract, and serves it. */
import type { Test } from 'tap';
import type { Handlers } from '../../../src/contract-first/engine/routes/operations.ts';
import { load, operation, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { handlersFor, startService } from '../../service.ts';

export type { Json };

export interface EchoOptions {
  /** The schemas of the body, of the reply, and of the query parameter `q`. */
  body?: Json;
  reply?: Json;
  q?: Json;
  /** Further schemas for `components.schemas`. */
  schemas?: Record<string, Json>;
  /** Returns the answer of the handler; by default, the body that it received. */
  answer?: (body: Json) => unknown;
  /** Edits the contract as text. */
  edit?: (yaml: string) => string;
}

/** The values that the handler received. */
export interface Given {
  query: Json;
  body: Json;
}

export interface Echo {
  /** Sends a body and a query. Returns the text of the reply, or the message of an error. */
  send(text?: string, query?: string): Promise<string>;
  given: Given[];
  /** The lines of the log. */
  log: string[];
}

export async function startEcho(t: Test, options: EchoOptions): Promise<Echo> {
  const { answer = (body) => body, edit = (yaml) => yaml } = options;
  const yaml = edit(withEcho(options));
  const contract = await load(t, yaml);
  const given: Given[] = [];
  const echo = (call: Given) => {
    given.push(call);
    return { status: 200, body: answer(call.body) };
  };
  const handlers = { ...handlersFor(contract), echo } as Handlers;
  const log: string[] = [];
  const { request } = await startService(t, { contract, handlers, yaml, log: { write: (line) => log.push(line) } });

  async function send(text?: string, query = ''): Promise<string> {
    const { status, body, text: sent } = await request(`/v1/echoes${query}`, { method: 'POST', body: text });
    return status === 400 ? (body as { message: string }).message : sent;
  }
  return { send, given, log };
}

/** Returns the contract with the operation. */
export function withEcho({ body = {}, reply = body, q = { type: 'string' }, schemas = {} }: EchoOptions): string {
  const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
  const post = operation('echo', {
    parameters: [{ name: 'q', in: 'query', schema: q }],
    requestBody: json(body),
    responses: { '200': json(reply) },
  });
  return withPaths({ '/echoes': { post } }, ({ components }) => {
    Object.assign(components.schemas, {
      Limit: { type: 'integer', format: 'int32', maximum: 100, default: 20 },
      Least: { type: 'integer', format: 'int64', minimum: 10 },
      ...schemas,
    });
  });
}
