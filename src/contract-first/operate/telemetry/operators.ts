/**
 * The listener for operators, with metrics and health. It has its own queue of connections, so that health checks are answered while the
 * public port's queue is long.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { format } from 'node:url';
import type { Registry } from 'prom-client';
import { hearErrors, linger } from '../../engine/http/connections/closing.ts';
import { SECURITY_HEADERS } from '../../engine/http/connections/response.ts';
import { onSocketEnd } from '../../engine/http/node-internals.ts';
import { writeMetrics } from './metrics.ts';

export interface OperatorsParts {
  /** Whether the service can do its work. */
  isReady(): Promise<boolean>;
  metrics: Registry;
}

const INDEX = `/metrics  Metrics, for Prometheus
/livez    200 while the process answers
/readyz   200 while the service can do its work, otherwise 503
`;

/** More connections than operators need. */
const MOST_CONNECTIONS = 64;
/** How long a request may take to arrive, in milliseconds. */
const REQUEST_TIMEOUT = 5000;

const UNKNOWN_HOST = `By this name anybody's page could ask. Use an address, or set ADMIN_HOST to the name.
`;

/**
 * Answers one request per connection, so that nobody can make it prepare many answers. When there are too many connections, the oldest is
 * closed, so that nobody can keep operators out.
 */
function buildServer(parts: OperatorsParts, names: readonly string[]): Server {
  const server = createServer({
    requestTimeout: REQUEST_TIMEOUT,
    headersTimeout: REQUEST_TIMEOUT,
    connectionsCheckingInterval: 1000,
  });
  hearErrors(server);
  const sockets = new Set<Socket>();
  const answered = new WeakSet<Socket>();
  server.setTimeout(REQUEST_TIMEOUT).on('connection', (socket) => {
    for (const oldest of sockets) {
      if (sockets.size < MOST_CONNECTIONS) break;
      sockets.delete(oldest);
      oldest.destroy();
    }
    sockets.add(socket);
    onSocketEnd(socket, linger);
    // Connections do not keep the process alive.
    socket.unref().once('close', () => sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    if (answered.has(socket)) {
      socket.pause();
      return;
    }
    answered.add(socket);
    if (isStranger(request.headers.host, names)) send(response, 421, UNKNOWN_HOST);
    else answer(parts, request, response).catch(() => send(response, 500, 'The metrics could not be read.\n'));
  });
  return server.unref();
}

/**
 * Whether the name in `Host` may belong to a stranger's domain: by DNS rebinding, a page of that domain could send requests here. Browsers
 * always send the name.
 */
function isStranger(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return false;
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return name.includes('.') && isIP(name) === 0 && !names.includes(name);
}

/** Returns the origin: `http://127.0.0.1:9000`. @throws Error when it cannot listen there */
export async function listenForOperators(parts: OperatorsParts, host: string, port: number): Promise<string> {
  const server = buildServer(
    parts,
    [host, hostname()].map((name) => name.toLowerCase()),
  );
  await once(server.listen({ host, port, exclusive: true }), 'listening');
  const { address, port: taken } = server.address() as AddressInfo;
  return format({ protocol: 'http', hostname: address, port: taken });
}

async function answer(parts: OperatorsParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '', headers } = request;
  // The URL may be in absolute form (RFC 9112, section 3.2.2).
  const path = url.replace(/^https?:\/\/[^/]*/i, '').split('?', 1)[0];
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    send(response, 405, 'GET and HEAD only.\n');
  } else if (path === '/') send(response, 200, INDEX);
  else if (path === '/livez') send(response, 200, 'ok\n');
  else if (path === '/readyz') {
    const isReady = await parts.isReady();
    send(response, isReady ? 200 : 503, isReady ? 'ok\n' : 'not ready\n');
  } else if (path === '/metrics') {
    const { type, text } = await writeMetrics(parts.metrics, headers.accept);
    send(response, 200, text, type);
  } else send(response, 404, `Nothing is here. There are:\n${INDEX}`);
}

function send(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  const length = Buffer.byteLength(text);
  const own = { 'content-type': type, 'content-length': length, connection: 'close' };
  response.writeHead(status, { ...SECURITY_HEADERS, ...own }).end(text);
}
