/** Sends requests to a server on this machine, over real sockets. */
import { type Agent, request as httpRequest } from 'node:http';
import { parse } from 'lossless-json';
import type { CheckedReply, ContractCheck, SecurityScheme } from './contract-check.ts';

export interface ReceivedReply extends CheckedReply {
  /** The body. JSON is parsed, and its integers of 16 or more digits become `bigint`. Any other body is a text. */
  body: unknown;
}

export interface RequestOptions {
  method?: string;
  /** The API key to send; null sends none. */
  key?: string | null | undefined;
  /** The body: strings and bytes are sent unchanged, other values as JSON. */
  body?: unknown;
  /** The headers. A header with a list of values is sent several times. */
  headers?: Record<string, string | string[]>;
}

/** Sends a request. @throws Error if the reply breaks the contract */
export type SendRequest = (url: string, options?: RequestOptions) => Promise<ReceivedReply>;

/**
 * Builds the function that sends requests to a port. A request contains `key` where its operation expects the API key:
 * in a header, a cookie or the query. A single request can use another key by its options.
 */
export function buildRequest(
  port: number,
  check: ContractCheck,
  key: string,
  agent: Agent | false = false,
): SendRequest {
  return async (url, options = {}) => {
    const { method = 'GET', key: own = key } = options;
    const reply = await send(port, ...withKey(url, { ...options, key: own }, check.schemesOf(method, url)), agent);
    const problems = check.problemsOf(method, url, reply);
    if (problems.length > 0) throw new Error(`The reply breaks the contract: ${problems.join('; ')}`);
    return { ...reply, body: toBody(reply) };
  };
}

/**
 * Returns the request with its key in the headers, cookies or query parameters that the security schemes name. Without
 * schemes, `key` is left in the options, and `send` sends it as a bearer token.
 */
function withKey(url: string, options: RequestOptions, schemes: SecurityScheme[]): [url: string, RequestOptions] {
  const { key } = options;
  if (typeof key !== 'string') return [url, options];
  const places = schemes.map(({ scheme, in: place, name = '' }): [place: string, name: string, value: string] => {
    if (place === 'cookie') return ['header', 'cookie', `${name}=${key}`];
    if (place !== undefined) return [place, name, key];
    const isBasic = scheme?.toLowerCase() === 'basic';
    return [
      'header',
      'authorization',
      isBasic ? `Basic ${Buffer.from(`:${key}`).toString('base64')}` : `Bearer ${key}`,
    ];
  });
  if (places.length === 0) return [url, options];
  const headers = places.filter(([place]) => place === 'header').map(([, name, value]) => [name, value]);
  const query = places
    .filter(([place]) => place === 'query')
    .map(([, name]) => `${encodeURIComponent(name)}=${encodeURIComponent(key)}`);
  const asked = query.length > 0 ? `${url}${url.includes('?') ? '&' : '?'}${query.join('&')}` : url;
  return [asked, { ...options, key: null, headers: { ...Object.fromEntries(headers), ...options.headers } }];
}

/** Sends one request. Without an agent, the request gets its own connection. */
export function send(
  port: number,
  url: string,
  options: RequestOptions = {},
  agent: Agent | false = false,
): Promise<CheckedReply> {
  const { method = 'GET', key = null, body, headers = {} } = options;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body === undefined;
  const bytes = isRaw ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path: url,
      method,
      agent,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(bytes !== undefined && { 'content-type': 'application/json' }),
        ...(bytes !== undefined && !headers['transfer-encoding'] && { 'content-length': Buffer.byteLength(bytes) }),
        ...headers,
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode as number,
          headers: response.headers as Record<string, string>,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.end(bytes);
  });
}

function toBody({ headers, text }: CheckedReply): unknown {
  if (!/json/.test(headers['content-type'] ?? '') || !/^[[{]/.test(text)) return text;
  return parse(text, undefined, (digits) => (/^-?\d{16,}$/.test(digits) ? BigInt(digits) : Number(digits)));
}
