/** Finds a request that works: the first create with an accepted sample, or else another accepted request. */
import type { FastifyInstance, InjectOptions } from 'fastify';
import { stringify } from 'lossless-json';
import { toCurlWords, toSampleRequest } from '../../contract/page/request.ts';
import { buildSamples } from '../../contract/page/sample.ts';
import { toSource } from '../../contract/page/source.ts';
import type { Contract, KeyLocation, Operation } from '../../engine/contract/contract.ts';
import { type FirstRequest, fillPlaceholders } from '../../engine/contract/first-request.ts';
import type { ToErrorBody } from '../../engine/errors/error-body.ts';
import { build } from '../../start/build.ts';
import type { Service } from '../../start/service.ts';
import { makeKey } from '../../store/api-keys.ts';
import { buildExampleHandlers } from './examples.ts';

/** The number of requests that are tried. */
const MOST_TRIES = 20;

/** A server that answers with the contract's examples. It runs no code of a team except that of its errors. */
export function buildExampleServer(
  contract: Contract,
  toErrorBody: ToErrorBody,
  key: string,
  logLevel: 'silent' | 'error',
) {
  const service = {
    ...{ name: 'sandbox', version: contract.document.info.version, contract: new URL('file:///nowhere/contract') },
    ...{ scopes: [], domain: {}, handlers: buildExampleHandlers(contract), toErrorBody },
    transactions: { all: {}, source: '' },
  };
  const config = { apiKeys: [key], database: { kind: 'memory' as const }, logLevel };
  return build(service, config, { contract });
}

/** Finds the request for the contract of a service. With `verifyToken`, a key is not sent in place of a token. */
export async function findExampleRequest(
  contract: Contract,
  { toErrorBody, verifyToken }: Pick<Service, 'toErrorBody' | 'verifyToken'>,
): Promise<FirstRequest | undefined> {
  const key = makeKey('sandbox');
  const app = await buildExampleServer(contract, toErrorBody, key, 'silent');
  try {
    return await findFirstRequest(app, contract, key, verifyToken !== undefined);
  } finally {
    await app.close();
  }
}

/** `key` is sent where an operation needs one. Undefined if no request is accepted. */
export async function findFirstRequest(
  app: FastifyInstance,
  contract: Contract,
  key: string,
  takesTokens = false,
): Promise<FirstRequest | undefined> {
  const source = toSource(contract);
  const values = { ...source, ...buildSamples(source) };
  const { prefix } = contract;

  function toInjected(operation: Operation): InjectOptions {
    const { headers, body } = toSampleRequest(values, operation);
    const value = body && values.ofMedia(body.media, 'readOnly')[0]?.value;
    const filled = headers.map(([name, text]) => [name, fillPlaceholders(text, key)]);
    const keys = needsOf(operation).flatMap(({ location }) => toKeyHeader(location, key));
    return {
      method: operation.method as 'POST',
      url: prefix + fillPlaceholders(toCurlWords(values, operation).url, key),
      headers: Object.fromEntries([...filled, ...keys, ...(body ? [['content-type', body.content.type]] : [])]),
      ...(body && { payload: stringify(value) ?? '' }),
    };
  }

  const candidates = [...contract.operations.values()].filter(
    (operation) =>
      (operation.body?.contents[0]?.kind ?? 'json') === 'json' &&
      !(takesTokens && needsOf(operation).some(({ location }) => location.isToken)),
  );
  for (const operation of candidates.sort((a, b) => rankOf(a) - rankOf(b)).slice(0, MOST_TRIES)) {
    const { statusCode } = await app.inject(toInjected(operation));
    if (statusCode >= 300) continue;
    const { options, url } = toCurlWords(values, operation);
    return { options, url: prefix + url };
  }
  return undefined;
}

/** The keys of the first alternative. */
const needsOf = ({ security: [need] }: Operation) => (need ? [need, ...need.alsoNeeded] : []);

/** A key in a query is in the URL. */
function toKeyHeader({ in: location, name }: KeyLocation, key: string): [string, string][] {
  if (location === 'query') return [];
  if (location === 'basic') return [['authorization', `Basic ${Buffer.from(`${key}:`).toString('base64')}`]];
  if (location === 'cookie') return [['cookie', `${name}=${key}`]];
  return [location === 'bearer' ? ['authorization', `Bearer ${key}`] : [name, key]];
}

/** Creates at a path without parameters first, then lists. */
const rankOf = ({ method, path }: Operation): number =>
  Number(path.includes('{')) * 2 + (method === 'POST' ? 0 : method === 'GET' ? 1 : 4);
