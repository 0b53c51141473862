/**
 * The listener for operators, with metrics and health. New connections wait in its own queue, so that health checks are
 * answered even if the queue of the public port is long.
 */
import { createServer, type Server } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import fastify, { type FastifyServerFactoryHandler } from 'fastify';
import type { Registry } from 'prom-client';
import { SECURITY_HEADERS } from '../../engine/http/common-headers.ts';
import { hearErrors, linger } from '../../engine/http/connections/connection.ts';
import { onSocketEnd } from '../../engine/http/node-internals.ts';
import { writeMetrics } from './metrics.ts';

interface OperatorsParts {
  /** Resolves to true if the service can handle requests. */
  isReady(): Promise<boolean>;
  metrics: Registry;
}

const INDEX = `/metrics  Metrics, for Prometheus
/livez    200 while the process answers
/readyz   200 while the service can do its work, otherwise 503
`;

/** The maximum number of connections. Operators need far fewer. */
const MOST_CONNECTIONS = 64;
/** How long a request may take to arrive, in milliseconds. */
const REQUEST_TIMEOUT = 5000;

const UNKNOWN_HOST = `By this name anybody's page could ask. Use an address, or set ADMIN_HOST to the name.
`;

/**
 * Builds a server that answers only one request per connection, so that a client cannot request many replies at once. A
 * connection above the limit makes the server close the oldest one, so that a client cannot keep operators out.
 */
function buildServer(answer: FastifyServerFactoryHandler): Server {
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
    // `unref`, so that open connections do not keep the process alive.
    socket.unref().once('close', () => sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    if (answered.has(socket)) {
      socket.pause();
      return;
    }
    answered.add(socket);
    answer(request, response);
  });
  return server.unref();
}

/**
 * True if `Host` contains a name that may belong to a stranger's domain. By DNS rebinding, a web page of such a domain
 * could send requests to this listener from an operator's browser. Browsers always send the name in `Host`.
 */
function isStranger(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return false;
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return name.includes('.') && isIP(name) === 0 && !names.includes(name);
}

/** Matches the origin in a URL in absolute form (RFC 9112, section 3.2.2). */
const ORIGIN = /^https?:\/\/[^/]*/i;

/**
 * Starts to listen, and returns the origin: `http://127.0.0.1:9000`. @throws Error if it cannot listen on this address
 */
export async function listenForOperators(parts: OperatorsParts, host: string, port: number): Promise<string> {
  const names = [host, hostname()].map((name) => name.toLowerCase());
  const app = fastify({ serverFactory: buildServer, rewriteUrl: ({ url }) => String(url).replace(ORIGIN, '') });
  app.addHook('onRequest', async ({ method, headers }, reply) => {
    reply.headers({ ...SECURITY_HEADERS, connection: 'close' }).type('text/plain; charset=utf-8');
    if (isStranger(headers.host, names)) return reply.code(421).send(UNKNOWN_HOST);
    if (method === 'GET' || method === 'HEAD') return;
    return reply.code(405).header('allow', 'GET, HEAD').send('GET and HEAD only.\n');
  });
  app.get('/', async () => INDEX);
  app.get('/livez', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) =>
    (await parts.isReady()) ? 'ok\n' : reply.code(503).send('not ready\n'),
  );
  app.get('/metrics', async ({ headers }, reply) => {
    const { type, text } = await writeMetrics(parts.metrics, headers.accept);
    return reply.type(type).send(text);
  });
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send(`Nothing is here. There are:\n${INDEX}`));
  app.setErrorHandler(async (_error, _request, reply) => reply.code(500).send('The metrics could not be read.\n'));
  return app.listen({ host, port, exclusive: true });
}
