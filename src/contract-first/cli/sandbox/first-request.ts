/** Finds a request that works: of all operations, the first create whose sample is accepted; else another request that is. */
import type { FastifyInstance, InjectOptions } from 'fastify';
import { stringify } from 'lossless-json';
import { KEY_PLACEHOLDER, toCurlWords, toSampleRequest } from '../../contract/page/request.ts';
import { buildSamples } from '../../contract/page/sample.ts';
import { toSource } from '../../contract/page/source.ts';
import type { Contract, KeyLocation, Operation } from '../../engine/contract/contract.ts';
import { html } from '../../engine/docs/html.ts';
import { toShellWord } from '../../json/literals.ts';

/** How many requests are tried. */
const MOST_TRIES = 20;

/** Returns a curl command. `key` is sent where an operation needs one. Undefined if no request is accepted. */
export async function findFirstCurl(
  app: FastifyInstance,
  contract: Contract,
  origin: string,
  key: string,
): Promise<string | undefined> {
  const source = toSource(contract);
  const values = { ...source, ...buildSamples(source), blank: () => html`` };
  const { prefix } = contract;

  function toInjected(operation: Operation): InjectOptions {
    const { url, headers, body } = toSampleRequest(values, operation);
    const value = body && values.ofMedia(body.media, 'readOnly')[0]?.value;
    const [need] = operation.security;
    const keys = need ? [need, ...need.alsoNeeded].map(({ location }) => toKeyHeader(location, key)) : [];
    return {
      method: operation.method as 'POST',
      url: prefix + url,
      headers: Object.fromEntries([...headers, ...keys, ...(body ? [['content-type', body.content.type]] : [])]),
      ...(body && { payload: stringify(value) ?? '' }),
    };
  }

  function toCommand(operation: Operation): string {
    const { options, url } = toCurlWords(values, operation);
    const words = [...options, toShellWord(origin + prefix + url)].join(' \\\n    ');
    return `curl ${words}`.replaceAll(KEY_PLACEHOLDER, key);
  }

  const candidates = [...contract.operations.values()].filter(
    ({ body }) => (body?.contents[0]?.kind ?? 'json') === 'json',
  );
  for (const operation of candidates.sort((a, b) => rankOf(a) - rankOf(b)).slice(0, MOST_TRIES)) {
    const { statusCode } = await app.inject(toInjected(operation));
    if (statusCode < 300) return toCommand(operation);
  }
  return undefined;
}

/** A key in a query is also accepted nowhere else, so that no such operation is tried. */
function toKeyHeader({ in: location, name }: KeyLocation, key: string): [string, string] {
  if (location === 'basic') return ['authorization', `Basic ${Buffer.from(`${key}:`).toString('base64')}`];
  if (location === 'cookie') return ['cookie', `${name}=${key}`];
  return location === 'bearer' ? ['authorization', `Bearer ${key}`] : [name, key];
}

/** Creates at a path without parameters first, then lists. */
const rankOf = ({ method, path }: Operation): number =>
  Number(path.includes('{')) * 2 + (method === 'POST' ? 0 : method === 'GET' ? 1 : 4);
