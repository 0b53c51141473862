/**
 * Answers each operation with the contract's own example of its reply, or else with an example that is made from the
 * schema.
 */
import { buildSamples, toReadSample } from '../../contract/page/sample.ts';
import { toSource } from '../../contract/page/source.ts';
import type { AnyContract, Operation, Reply } from '../../engine/contract/contract.ts';
import type { MediaNode, ResponseNode } from '../../engine/contract/document.ts';
import { inAllTypes, toServedType } from '../../engine/contract/replies.ts';
import { notImplemented } from '../../engine/errors/catalogue.ts';
import { headersOfHandler } from '../../engine/replies/reply-headers.ts';
import type { AnyHandler } from '../../engine/routes/handler.ts';
import { buildToBigints } from '../../engine/schema/bigints.ts';
import { buildChecks } from '../../engine/schema/checks.ts';

/** Builds a handler for each operation, which answers with an example, or with 501 if no example fits a reply. */
export function buildExampleHandlers(contract: AnyContract): Record<string, AnyHandler> {
  const source = toSource(contract);
  const samples = buildSamples(source);
  const buildCheck = buildChecks();

  function handlerOf(operation: Operation): AnyHandler {
    const { responses = {} } = source.nodesOf(operation).source;
    for (const reply of repliesOf(operation)) {
      const declared = source.follow(responses[reply.status]) as ResponseNode;
      const headers = headersFor(operation, reply);
      const body = reply.hasContent ? bodyOf(reply, declared) : { body: undefined };
      if (!body || !headers) continue;
      const answer = { status: statusOf(reply), type: reply.hasContent ? reply.type : undefined, headers, ...body };
      return (async () => structuredClone(answer)) as unknown as AnyHandler;
    }
    return notImplemented as AnyHandler;
  }

  /** Returns the first example that fits the reply. If the reply is not JSON, returns the example as text. */
  function bodyOf(reply: Reply, { content = {} }: ResponseNode): { body: unknown } | undefined {
    const media = Object.entries(content).find(([name]) => toServedType(name) === reply.type)?.[1];
    const own = samples.ofMedia(source.follow(media) as MediaNode, 'writeOnly').map(({ value }) => value);
    if (!reply.isJson) return { body: typeof own[0] === 'string' ? own[0] : '' };
    const made = samples.ofSchema(media?.schema, 'writeOnly');
    const check = buildCheck(reply.schema, { name: 'an example', int64s: reply.int64s }, () => {});
    const toBigints = buildToBigints(reply.int64s) ?? ((value: unknown) => value);
    const bodies = [...own, made].flatMap((value) => (value === undefined ? [] : [toBigints(toReadSample(value))]));
    const body = bodies.find((value) => check(value) === undefined);
    return body === undefined ? undefined : { body };
  }

  /** Returns examples for the headers that the handler must send. Returns undefined if an example is missing. */
  function headersFor(operation: Operation, reply: Reply): Record<string, unknown> | undefined {
    const needed = headersOfHandler(operation, reply).filter(([, { required }]) => required);
    const values = needed.map(([name, header]) => [name, samples.ofMedia(header, 'writeOnly')[0]?.value] as const);
    if (values.some(([, value]) => value === undefined)) return undefined;
    return Object.fromEntries(values.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]));
  }

  return Object.fromEntries([...contract.operations.values()].map((one) => [one.id, handlerOf(one)]));
}

/**
 * Returns the replies that may be sent as an example: successes first, then redirects, then `default`. Of one reply,
 * JSON comes first.
 */
function repliesOf({ replies }: Operation): Reply[] {
  const order = (status: string) => (/^[23]/.test(status) ? status : /^default$/i.test(status) ? '4' : '9');
  const known = replies.filter(({ status }) => order(status) < '9').flatMap((reply) => inAllTypes([reply]));
  return known.sort((a, b) => order(a.status).localeCompare(order(b.status)));
}

/** Returns the status to send, which is 200 for `2XX` and `default`. */
const statusOf = ({ status }: Reply): number => Number(status.replace(/xx$/i, '00')) || 200;
