/** The promises that only a server can make, such as its limits and its replies to malformed HTTP, by Fastify's own options. */
import { executionAsyncResource } from 'node:async_hooks';
import { createServer, type RequestListener, type Server } from 'node:http';
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { ToErrorBody } from '../error-body.ts';
import { buildErrorFormOf } from '../replies/error-bodies.ts';
import { addAccepting } from './accepting.ts';
import { buildIsProxy, buildToAddress, type IsProxy } from './client-address.ts';
import { addConnections, type ConnectionLimits, Connections } from './connections.ts';
import { toBareHeaders } from './cors.ts';
import { Counts } from './counts.ts';
import { addDraining, type Stop } from './draining.ts';
import { buildSendError, type SendError } from './error-replies.ts';
import { buildBegin } from './every-request.ts';
import { buildToLogged } from './logged-urls.ts';
import { buildMakeError } from './made-errors.ts';
import { buildListener, type OverloadOptions, type RequestLimits } from './overload.ts';
import { addRawReplies, buildSendClientError, type RawRepliesOptions } from './raw-replies.ts';
import { buildRequestIds, buildRequestObserver } from './request-log.ts';
import { type Begin, buildFastifyLog, setLog } from './request-logger.ts';
import { buildServerResponse } from './server-response.ts';
import { hearErrors } from './socket-errors.ts';
import { MAX_URL_LENGTH } from './thrown.ts';
import { addExpectations } from './unwanted-bodies.ts';
import { addUpgrades, Request } from './upgrades.ts';

export interface HttpOptions {
  logger: Logger;
  /** Where the logger writes: the lines of requests go there as text. */
  lines: DestinationStream;
  /** Keys, or how they begin, that no logged URL may show, and the names of query parameters in which keys are sent. */
  secrets: readonly string[];
  secretNames: string[];
  /** The addresses and ranges of proxies whose `X-Forwarded-For` counts. */
  trustProxy: readonly string[];
  /** How long a request may take to arrive, in milliseconds. */
  requestTimeout: number;
  /** How long a connection may stay open without a request, in milliseconds; by default, Fastify's value. */
  keepAliveTimeout?: number | undefined;
  limits: ConnectionLimits & RequestLimits;
  /** The origins whose pages may read replies that are sent before any hook. */
  corsOrigins?: readonly string[];
  /** Counts requests and connections for metrics; undefined if nobody reads them. */
  counts?: Counts | undefined;
  /** `isAsked` becomes true before `app.close()`, which then loses no request. */
  stop: Stop;
  /** Makes the body of errors that belong to no operation. */
  toErrorBody: ToErrorBody;
}

/** The parts of a server that the app on it needs. */
export interface HttpServer extends RawRepliesOptions, Omit<OverloadOptions, 'healthPaths'> {
  options: FastifyServerOptions;
  ownLog: ReturnType<typeof buildFastifyLog>;
  sendError: SendError;
  stop: Stop;
  healthPaths: Set<string | undefined>;
  /** Begins the span of a request. */
  beginTrace: Begin | undefined;
  /** Adds the server's hooks, for the first contract on it. */
  adopt: (app: FastifyInstance) => void;
}

const httpServers = new WeakMap<Server, HttpServer>();

/** Undefined for an app that was made without `serverOptions`. */
export const httpServerOf = ({ server }: FastifyInstance): HttpServer | undefined => httpServers.get(server);

/** Options for one `fastify()`, with the limits of a configuration without variables. */
export function serverOptions(options: Partial<HttpOptions> = {}): FastifyServerOptions {
  const { logger = pino() } = options;
  return buildHttpServer({
    logger,
    // Through the logger, since only it knows where it writes.
    lines: { write: (line) => writeAgain(logger, line) },
    ...{ secrets: [], secretNames: [], trustProxy: [], requestTimeout: 30_000, stop: { isAsked: false } },
    limits: { maxConnections: 1000, maxPipelined: 64, maxRequests: 32_768, replyTimeout: 30_000 },
    toErrorBody: ({ code, message, status, problems }) => ({ code, message, status, problems }) as never,
    ...options,
  }).options;
}

function writeAgain(logger: Logger, line: string): void {
  const { level: _level, time: _time, pid: _pid, hostname: _hostname, msg, ...fields } = JSON.parse(line);
  logger.info(fields, msg);
}

/** An app with these options, but for the logger, which `setLog` gives it. */
export function createApp(options: HttpOptions): { app: FastifyInstance; server: HttpServer } {
  const server = buildHttpServer(options);
  const { loggerInstance: _none, childLoggerFactory: _usual, ...others } = server.options;
  const app: FastifyInstance = fastify(others);
  setLog(app, server.ownLog);
  return { app, server };
}

function buildHttpServer(options: HttpOptions): HttpServer {
  const { logger, stop, limits, counts = new Counts() } = options;
  const toLogged = buildToLogged(options.secretNames, options.secrets);
  let server: Server | undefined;
  // The address of a Unix socket is a string, its path.
  const isProxy = buildIsProxy(options.trustProxy, () => typeof server?.address() === 'string');
  const toAddress = buildToAddress(isProxy);
  const begin = buildBegin(buildRequestObserver({ ...options, counts: options.counts, toLogged, toAddress }));
  const makeError = buildMakeError(logger, buildErrorFormOf(options.toErrorBody));
  const made: HttpServer = {
    ...limits,
    ...{ logger, makeError, counts, toAddress, toLogged, stop },
    nextRequestId: buildRequestIds(),
    bareHeaders: toBareHeaders(options.corsOrigins),
    healthPaths: new Set(),
    lastCall: { waiting: undefined },
    connections: new Connections(limits, logger, counts),
    sendError: buildSendError(logger, makeError),
    beginTrace: undefined,
    ownLog: buildFastifyLog(logger, toLogged, (request, reply) => {
      made.beginTrace?.(request, reply);
      begin(request, reply);
    }),
    options: {},
    adopt: (app) => {
      made.adopt = () => {};
      addUpgrades(app);
      addDraining(app, made);
    },
  };
  made.options = toFastifyOptions(made, isProxy, (handle) => {
    const created = createOwnServer(handle, made, options);
    server ??= created;
    return created;
  });
  return made;
}

/** How long a part may take to load, in milliseconds: a contract of thousands of operations exceeds Fastify's ten seconds. */
const PART_TIMEOUT = 120_000;

const NO_TLS =
  'serverOptions() is for plain HTTP/1.1: let a proxy terminate TLS or HTTP/2, or make the app without serverOptions()';

function toFastifyOptions(
  made: HttpServer,
  isProxy: IsProxy | undefined,
  create: (handle: RequestListener) => Server,
): FastifyServerOptions {
  const { sendError, bareHeaders, ownLog, nextRequestId } = made;
  return {
    loggerInstance: ownLog.log,
    logController: ownLog.logController,
    childLoggerFactory: ownLog.childLoggerFactory,
    genReqId: nextRequestId,
    frameworkErrors: (error, request, reply) => sendError(error, request, reply.headers(bareHeaders)),
    clientErrorHandler: buildSendClientError(made),
    trustProxy: isProxy ?? false,
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    pluginTimeout: PART_TIMEOUT,
    return503OnClosing: false,
    // Node closes idle connections itself, when it no longer listens.
    forceCloseConnections: false,
    serverFactory: (handle, { https, http2 }) => {
      if (https || http2) throw new Error(NO_TLS);
      return create(handle as RequestListener);
    },
  };
}

/**
 * An object of `process.nextTick`. While none is alive, as in an idle server, V8 forgets their hidden class when it collects garbage,
 * and from then on each of the ten ticks of a request takes several times as long.
 */
export const KEPT_TICK: object[] = [];
process.nextTick(() => KEPT_TICK.push(executionAsyncResource()));

/** Since 24.12, Node need not read a request without a body to its end, which takes a sixth of a get. Older versions ignore the option. */
const SINCE_NODE_24 = { optimizeEmptyRequests: true };

function createOwnServer(
  handle: RequestListener,
  made: HttpServer,
  { requestTimeout, keepAliveTimeout = 72_000 }: HttpOptions,
): Server {
  const options = {
    requireHostHeader: false,
    // Joins duplicate headers, to refuse them: Node would take the first, a proxy perhaps the last.
    joinDuplicateHeaders: true,
    requestTimeout,
    keepAliveTimeout,
    // Not longer than requestTimeout: Node would give the whole request that time.
    headersTimeout: requestTimeout,
    // The default of Node 22. With its own default, Node 20 would stop reading at a quarter of it.
    highWaterMark: 64 * 1024,
    connectionsCheckingInterval: Math.ceil(requestTimeout / 4),
    IncomingMessage: Request,
    ServerResponse: buildServerResponse(made.stop),
    ...SINCE_NODE_24,
  };
  const server = createServer(options, buildListener(handle, made));
  hearErrors(server);
  // No limit of the number of headers: Node would drop the rest silently. Their total size is limited.
  server.maxHeadersCount = 0;
  // Node caches the address when it is first read; once a client has reset its connection, the system no longer has it.
  server.prependListener('connection', (socket) => socket.remoteAddress);
  addConnections(server, made.connections);
  addAccepting(server, made.connections);
  addExpectations(server);
  addRawReplies(server, made);
  httpServers.set(server, made);
  return server;
}
