/**
 * Finds requests that are not valid HTTP: requests that Node's parser rejects, and requests that it accepts although
 * they are invalid.
 */
import type { IncomingMessage } from 'node:http';
import type { ConnectionError, FastifyInstance, FastifyRequest } from 'fastify';
import { type CodeAndMessage, HttpError } from '../errors/catalogue.ts';
import { addServerHeaders } from './connections/response.ts';

/** The longest URL that is accepted, in characters. RFC 9110, section 4.1, recommends at least 8000. */
export const MAX_URL_LENGTH = 8192;

export const URI_TOO_LONG: CodeAndMessage = ['uri_too_long', `The URL is longer than ${MAX_URL_LENGTH} characters.`];
export const MALFORMED: CodeAndMessage = ['malformed_request', 'The request is not well-formed HTTP.'];
export const BAD_URL: CodeAndMessage = ['malformed_request', 'The URL is not well-formed.'];
const NO_VERSION: CodeAndMessage = ['http_version_not_supported', 'The server speaks HTTP/1.1 and HTTP/1.0.'];
const NO_METHOD: CodeAndMessage = ['not_implemented', 'The server knows no such method.'];
const NO_HOST: CodeAndMessage = ['malformed_request', 'The Host header is missing, or no host.'];
const TWICE: CodeAndMessage = ['malformed_request', 'A header that counts once was sent twice.'];
const OLD_CHUNKS: CodeAndMessage = ['malformed_request', 'HTTP/1.0 has no Transfer-Encoding.'];
const CODED: CodeAndMessage = ['not_implemented', 'The server knows no Transfer-Encoding but chunked.'];
/** The error for a URL with a fragment (RFC 9112, section 3.2). */
const FRAGMENT: CodeAndMessage = ['malformed_request', 'The URL has a #, which belongs to no request.'];
const UNMET: CodeAndMessage = [
  'expectation_failed',
  'The server cannot meet the Expect header: it knows 100-continue only.',
];

/** The errors for clients, by the codes of Node's HTTP server (nodejs.org/api/http.html, event clientError). */
const NODE_ERRORS: Record<string, CodeAndMessage> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers of the request, with its URL, are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'The chunk extensions of the body are too large.'],
  HPE_INVALID_VERSION: NO_VERSION,
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
};

/**
 * Matches a valid `Host`: a name or an address, with or without a port (RFC 9110, section 7.2; RFC 3986, section
 * 3.2.2), or the empty text.
 */
const HOST = /^(?:\[[\w:.~!$&'()*+,;=%-]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/;

/** Converts an error of Node's HTTP server to the error for the client. */
export const toMalformed = (error: ConnectionError): HttpError => new HttpError(...toCodeAndMessage(error));

function toCodeAndMessage(error: ConnectionError): CodeAndMessage {
  const line = lineOf(error);
  // Node counts the URL as part of the headers. If the parser failed in the first line, the URL is too long.
  if (error.code === 'HPE_HEADER_OVERFLOW' && /^[A-Z-]+ | HTTP\/1\.\d$/.test(line)) return URI_TOO_LONG;
  // An unknown method in an otherwise valid first line is answered with 501 (RFC 9110, section 9.1). If the line is
  // invalid, the request is malformed.
  if (error.code === 'HPE_INVALID_METHOD' && /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]$/.test(line)) return NO_METHOD;
  return NODE_ERRORS[error.code] ?? MALFORMED;
}

/**
 * Returns the line that made Node's parser fail. Contrary to Fastify's type, `rawPacket` is a Buffer that contains only
 * the last packet, or undefined.
 */
function lineOf({ rawPacket, bytesParsed }: ConnectionError): string {
  const text = (rawPacket as unknown as Buffer | undefined)?.toString('latin1') ?? '';
  return text
    .slice(text.lastIndexOf('\r\n', bytesParsed - 1) + 1)
    .trimStart()
    .split('\r\n', 1)[0] as string;
}

/**
 * Adds the check for malformed requests as a hook. The hook runs after the hooks of plugins, because those may set
 * headers on every reply, and before Fastify reads the body.
 */
export function addFormCheck(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    // On our own server, these headers were already added, and plugins may have changed them since. The headers are
    // only missing on a server that the team has made.
    if (!reply.hasHeader('x-request-id')) addServerHeaders(request, reply);
    done(findMalformed(request));
  });
}

/**
 * Returns the error for a malformed request. Node itself could reject most malformed requests, but Node's replies have
 * no body.
 */
function findMalformed({ raw, headers }: FastifyRequest): HttpError | undefined {
  const url = raw.url as string;
  if (url.length > MAX_URL_LENGTH) return new HttpError(...URI_TOO_LONG);
  if (url.includes('#')) return new HttpError(...FRAGMENT);
  if (/[%\x80-\xff]/.test(url) && !isDecodable(url)) return new HttpError(...BAD_URL);
  if (url === '*' && raw.method !== 'OPTIONS') return new HttpError(...BAD_URL);
  if (headers.host === undefined ? raw.httpVersion === '1.1' : !HOST.test(headers.host))
    return new HttpError(...NO_HOST);
  if (headers.expect !== undefined && !isMet(headers.expect)) return new HttpError(...UNMET);
  if (isFaultilyFramed(raw)) return new HttpError(...toFramingFault(raw));
  const mayBeTwice = headers.authorization?.includes(',') || headers['content-type']?.includes(',');
  if (mayBeTwice && isTwice(raw)) return new HttpError(...TWICE);
  return undefined;
}

/**
 * Returns whether the whole URL can be decoded. Fastify checks only the path; a query that is not percent-encoded UTF-8
 * (RFC 3986, section 2.5) would be changed silently.
 */
function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return !/[\x80-\xff]/.test(url);
  } catch {
    return false;
  }
}

/**
 * True if the server supports everything that the header `Expect` asks for. The header is a list (RFC 9110, section
 * 10.1.1); its empty elements are ignored (section 5.6.1.2).
 */
function isMet(expect: string): boolean {
  return expect.split(',').every((part) => ['', '100-continue'].includes(part.trim().toLowerCase()));
}

/**
 * True if a proxy could see the end of the request at another place than this server. The connection must then close
 * after the request (RFC 9112, section 6.1).
 */
export function isFaultilyFramed({ httpVersion, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return httpVersion !== '1.1' && httpVersion !== '1.0';
  return httpVersion !== '1.1' || coding.toLowerCase() !== 'chunked';
}

function toFramingFault({ httpVersion, headers }: IncomingMessage): CodeAndMessage {
  if (httpVersion === '1.1') return /,\s*chunked$/i.test(headers['transfer-encoding'] as string) ? CODED : MALFORMED;
  return httpVersion === '1.0' ? OLD_CHUNKS : NO_VERSION;
}

/**
 * True if a header that must occur only once occurs twice. Node joins duplicate headers with a comma
 * (`joinDuplicateHeaders`). `Host` is not tested, because a joined `Host` is invalid anyway.
 */
function isTwice({ rawHeaders }: IncomingMessage): boolean {
  const names = rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase());
  return ['authorization', 'content-type'].some((name) => names.indexOf(name) < names.lastIndexOf(name));
}
