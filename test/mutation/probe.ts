/** One request to a server, with what must come of it when the server follows the contract. */
import { stringify } from 'lossless-json';
import type { Json, Operation } from '../properties/operations.ts';
import { plainest } from './samples.ts';

export interface Probe {
  /** The operation that is asked; none where the contract has none. */
  operation?: string;
  request: ProbeRequest;
  expect: Expectation;
}

export interface ProbeRequest {
  method: string;
  url: string;
  key: 'valid' | 'unknown' | 'none';
  body?: string | undefined;
  type?: string | undefined;
  /** What the store does: it cannot be reached, or it has a bug. */
  store?: 'down' | 'broken';
}

export interface Expectation {
  /** Whether the request passes the contract, to the handler of the operation. */
  passes: boolean;
  /** Whether the handler must take it, too: not so for values that only the server makes up. */
  served?: boolean;
  status?: number;
  /** The place that the message names. */
  names?: string;
  /** What the handler finds in the query or body under a name, as text. */
  finds?: { part: 'query' | 'body'; name: string; text: string };
  /** The URL to which the reply is the same. */
  sameAs?: string;
  /** Exact values; null for a header that must not be there. */
  headers?: Record<string, string | null>;
}

/** The plainest request to an operation, with these parts in place of its own: it passes. */
export function passing(
  operation: Operation,
  request: Partial<ProbeRequest> = {},
  expect: Partial<Expectation> = {},
): Probe {
  const { id, method, body } = operation;
  const json = body && { body: toJson(plainest(body.schema)), type: 'application/json' };
  return {
    operation: id,
    request: { method, url: toUrl(operation), key: 'valid', ...json, ...request },
    expect: { passes: true, served: true, ...expect },
  };
}

/** The same, for a request that is refused with this status. */
export function refused(
  operation: Operation,
  status: number,
  request: Partial<ProbeRequest>,
  expect: Partial<Expectation> = {},
): Probe {
  return passing(operation, request, { passes: false, served: false, status, ...expect });
}

/** With these parameters (null leaves one out), and the plainest values for the others that are required. */
export function toUrl({ path, parameters }: Operation, given: Record<string, string | null> = {}): string {
  const textOf = (name: string) => encodeURIComponent(given[name] ?? plainestText(parameters, name));
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => textOf(name));
  const query = parameters
    .filter(({ name, in: place, required }) => place === 'query' && (name in given ? given[name] !== null : required))
    .map(({ name }) => `${name}=${textOf(name)}`);
  return query.length > 0 ? `${filled}?${query.join('&')}` : filled;
}

function plainestText(parameters: Operation['parameters'], name: string): string {
  return String(plainest(parameters.find((parameter) => parameter.name === name)?.schema));
}

export function toJson(value: Json): string {
  return stringify(value) as string;
}
