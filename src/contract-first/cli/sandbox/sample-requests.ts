/** Makes the sample request of an operation, and the form of it that `app.inject` sends to a server in this process. */
import type { InjectOptions } from 'fastify';
import { stringify } from 'lossless-json';
import { toCurlWords, toSampleRequest } from '../../contract/page/request.ts';
import { buildSamples } from '../../contract/page/sample.ts';
import { toSource } from '../../contract/page/source.ts';
import type { AnyContract, KeyLocation, Operation } from '../../engine/contract/contract.ts';
import { type FirstRequest, fillPlaceholders } from '../../engine/contract/first-request.ts';

/**
 * Builds functions that make the sample requests of a contract. A request contains `key` if its operation needs a key.
 */
export function buildSampleRequests(contract: AnyContract, key: string) {
  const source = toSource(contract);
  const values = { ...source, ...buildSamples(source) };

  function toInjected(operation: Operation): InjectOptions & { url: string } {
    const { headers, body } = toSampleRequest(values, operation);
    const value = body && values.ofMedia(body.media, 'readOnly')[0]?.value;
    const filled = headers.map(([name, text]) => [name, fillPlaceholders(text, key)]);
    const keys = needsOf(operation).flatMap(({ location }) => toKeyHeader(location, key));
    return {
      method: operation.method as 'POST',
      url: contract.prefix + fillPlaceholders(toCurlWords(values, operation).url, key),
      headers: Object.fromEntries([...filled, ...keys, ...(body ? [['content-type', body.content.type]] : [])]),
      ...(body && { payload: stringify(value) ?? '' }),
    };
  }

  /** Converts the sample request to the options and the URL of a curl command. */
  function toRequest(operation: Operation): FirstRequest {
    const { options, url } = toCurlWords(values, operation);
    return { options, url: contract.prefix + url };
  }

  return { toInjected, toRequest };
}

/** Returns the keys that the first security requirement of an operation needs. */
export const needsOf = ({ security: [need] }: Operation) => (need ? [need, ...need.alsoNeeded] : []);

/** Returns the header that contains the key. Returns none for a key in the query, because it is already in the URL. */
function toKeyHeader({ in: location, name }: KeyLocation, key: string): [string, string][] {
  if (location === 'query') return [];
  if (location === 'basic') return [['authorization', `Basic ${Buffer.from(`${key}:`).toString('base64')}`]];
  if (location === 'cookie') return [['cookie', `${name}=${key}`]];
  return [location === 'bearer' ? ['authorization', `Bearer ${key}`] : [name, key]];
}
