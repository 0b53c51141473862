/**
 * Builds the options of a Fastify server that limits its connections and replies to malformed HTTP. A team that makes a
 * Fastify app without these options gets neither.
 */
import { executionAsyncResource } from 'node:async_hooks';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import { buildErrorFormOf, buildRenderError, type ToErrorBody, toErrorBody } from '../errors/error-body.ts';
import { buildIsProxy, buildToAddress, type IsProxy, type ToAddress } from './client-address.ts';
import { prioritizeNewConnections } from './connections/accepting.ts';
import { hearErrors, type Stop } from './connections/connection.ts';
import { addUpgrades, type ConnectionLimits, Connections, type ConnectionsOptions } from './connections/connections.ts';
import { addDraining } from './connections/listening.ts';
import { HttpRequest } from './connections/request.ts';
import { addServerHeaders, HttpResponse } from './connections/response.ts';
import { toBareHeaders } from './cors.ts';
import { buildSendError, type SendError } from './error-replies.ts';
import { buildToLogged, type ToLogged } from './log/logged-urls.ts';
import { buildRequestIds, buildRequestObserver, Counts } from './log/request-log.ts';
import { buildFastifyLog, type InitRequest, setLog } from './log/request-logger.ts';
import { MAX_URL_LENGTH } from './malformed.ts';

export interface HttpOptions {
  logger: Logger;
  /**
   * The stream that receives the logger's lines. Finished lines about requests are written to it directly, without the
   * logger.
   */
  lines: DestinationStream;
  /**
   * Keys, or beginnings of keys, that must not appear in logged URLs. `secretNames` contains the names of the query
   * parameters for keys.
   */
  secrets: readonly string[];
  secretNames: string[];
  /** The addresses and address ranges of proxies with a trusted `X-Forwarded-For`. */
  trustProxy: readonly string[];
  /** How long a client may take to send a request, in milliseconds. */
  requestTimeout: number;
  /** How long a connection may stay open without a request, in milliseconds. The default is that of Fastify. */
  keepAliveTimeout?: number | undefined;
  limits: ConnectionLimits;
  /**
   * The origins of web pages that may read the replies of this server, including replies that are sent before any hook
   * runs.
   */
  corsOrigins?: readonly string[];
  /** Counts requests and connections for metrics. Undefined for a server without metrics. */
  counts?: Counts | undefined;
  /**
   * Whether the server was asked to stop. Set `isAsked` to true before `app.close()`, so that no request is lost during
   * the stop.
   */
  stop: Stop;
  /** Makes the body of errors that do not belong to an operation. */
  toErrorBody: ToErrorBody;
  /** The media type of errors that do not belong to an operation. The default is plain JSON. */
  errorType?: string;
}

/** A server's objects that are needed to set up an app on it. */
interface HttpServer {
  options: FastifyServerOptions;
  fastifyLog: ReturnType<typeof buildFastifyLog>;
  sendError: SendError;
  stop: Stop;
  counts: Counts;
  toAddress: ToAddress;
  toLogged: ToLogged;
  /** Also hides the values of the query parameters `names`, and the texts in `secrets`, in logged URLs. */
  hide: (names: string[], secrets: string[]) => void;
  connections: Connections;
  healthPaths: Set<string | undefined>;
  /** Begins the span of a request. Undefined without traces. */
  beginTrace: InitRequest | undefined;
  /** Adds the server's hooks to the app. Further calls do not change anything. */
  adopt: (app: FastifyInstance) => void;
}

const httpServers = new WeakMap<Server, HttpServer>();

/** Returns the objects of an app's server. Returns undefined if the app was made without `serverOptions`. */
export const httpServerOf = ({ server }: FastifyInstance): HttpServer | undefined => httpServers.get(server);

/** Returns the options for one call of `fastify()`. Limits that are not given get the defaults of the configuration. */
export function serverOptions(options: Partial<HttpOptions> = {}): FastifyServerOptions {
  const { logger = pino() } = options;
  return buildHttpServer({
    logger,
    // Only the logger knows where it writes to, so finished lines must go through the logger.
    lines: { write: (line) => writeAgain(logger, line) },
    ...{ secrets: [], secretNames: [], trustProxy: [], requestTimeout: 30_000, stop: { isAsked: false } },
    limits: { maxConnections: 1000, maxPipelined: 64, replyTimeout: 30_000 },
    toErrorBody: toErrorBody as ToErrorBody,
    ...options,
  }).options;
}

function writeAgain(logger: Logger, line: string): void {
  const { level: _level, time: _time, pid: _pid, hostname: _hostname, msg, ...fields } = JSON.parse(line);
  logger.info(fields, msg);
}

/** Creates an app with these options. The logger is not among the options for Fastify; `setLog` sets it afterwards. */
export function createApp(options: HttpOptions): { app: FastifyInstance; server: HttpServer } {
  const server = buildHttpServer(options);
  const { loggerInstance: _none, childLoggerFactory: _usual, ...others } = server.options;
  const app: FastifyInstance = fastify(others);
  setLog(app, server.fastifyLog);
  return { app, server };
}

function buildHttpServer(options: HttpOptions): HttpServer {
  const { logger, stop, limits, counts = new Counts() } = options;
  let [secretNames, secrets] = [options.secretNames, options.secrets];
  let hideSecrets = buildToLogged(secretNames, secrets);
  const toLogged: ToLogged = (url) => hideSecrets(url);
  let server: Server | undefined;
  // The address of a Unix socket is a string: its path.
  const isProxy = buildIsProxy(options.trustProxy, () => typeof server?.address() === 'string');
  const toAddress = buildToAddress(isProxy);
  const observe = buildRequestObserver({ ...options, counts: options.counts, toLogged, toAddress });
  const renderError = buildRenderError(logger, buildErrorFormOf(options.toErrorBody, {}, options.errorType));
  const nextRequestId = buildRequestIds();
  const bareHeaders = toBareHeaders(options.corsOrigins);
  const healthPaths = new Set<string | undefined>();
  const parts = { limits, stop, counts, logger, nextRequestId, renderError, toAddress, bareHeaders, healthPaths };
  const made: HttpServer = {
    ...{ stop, counts, toAddress, toLogged, healthPaths },
    connections: new Connections(parts),
    sendError: buildSendError(logger, renderError),
    beginTrace: undefined,
    hide: (names, more) => {
      [secretNames, secrets] = [
        [...secretNames, ...names],
        [...secrets, ...more],
      ];
      hideSecrets = buildToLogged(secretNames, secrets);
    },
    fastifyLog: buildFastifyLog(logger, toLogged, (request, reply) => {
      made.beginTrace?.(request, reply);
      observe?.(request, reply);
      (request.raw as HttpRequest).reply = reply;
      addServerHeaders(request, reply);
    }),
    options: {},
    adopt: (app) => {
      made.adopt = () => {};
      addUpgrades(app);
      addDraining(app, made.connections, stop);
    },
  };
  made.options = toFastifyOptions(made, parts, isProxy, (handle) => {
    const created = createNodeServer(handle, made, options);
    server ??= created;
    return created;
  });
  return made;
}

/**
 * How long a plugin may take to load, in milliseconds. The default of Fastify, ten seconds, is too short for a contract
 * with thousands of operations.
 */
const PART_TIMEOUT = 120_000;

const NO_TLS =
  'serverOptions() is for plain HTTP/1.1: let a proxy terminate TLS or HTTP/2, or make the app without serverOptions()';

function toFastifyOptions(
  { sendError, fastifyLog, connections }: HttpServer,
  { nextRequestId, bareHeaders }: ConnectionsOptions,
  isProxy: IsProxy | undefined,
  create: (handle: RequestListener) => Server,
): FastifyServerOptions {
  return {
    loggerInstance: fastifyLog.log,
    logController: fastifyLog.logController,
    childLoggerFactory: fastifyLog.childLoggerFactory,
    genReqId: nextRequestId,
    frameworkErrors: (error, request, reply) => sendError(error, request, reply.headers(bareHeaders)),
    clientErrorHandler: (error, socket) => connections.rawReplies.onClientError(error, socket),
    trustProxy: isProxy ?? false,
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    pluginTimeout: PART_TIMEOUT,
    return503OnClosing: false,
    // Node itself closes idle connections when the server stops listening.
    forceCloseConnections: false,
    serverFactory: (handle, { https, http2 }) => {
      if (https || http2) throw new Error(NO_TLS);
      return create(handle as RequestListener);
    },
  };
}

/**
 * An object of `process.nextTick` that is kept alive on purpose. If no such object were alive, as in an idle server,
 * V8's garbage collection would drop their hidden class. From then on, each of the ten ticks that a request needs would
 * take several times as long.
 */
export const KEPT_TICK: object[] = [];
process.nextTick(() => KEPT_TICK.push(executionAsyncResource()));

/**
 * With this option of Node 24.12 and newer, Node does not read a request without a body to its end. Reading takes a
 * sixth of the time of a GET request. Older versions ignore the option.
 */
const SINCE_NODE_24 = { optimizeEmptyRequests: true };

function createNodeServer(
  handle: RequestListener,
  made: HttpServer,
  { requestTimeout, keepAliveTimeout = 72_000 }: HttpOptions,
): Server {
  const options = {
    requireHostHeader: false,
    // Joins duplicate headers, so that a later check can find them and reply with 400. Otherwise Node would use the
    // first of two headers, although a proxy might have used the last.
    joinDuplicateHeaders: true,
    requestTimeout,
    keepAliveTimeout,
    // The timeout must not be above `requestTimeout`: Node would then use it as the limit for the whole request.
    headersTimeout: requestTimeout,
    // The default of Node 22. With it, Node 20 also reads uploads in larger chunks.
    highWaterMark: 64 * 1024,
    connectionsCheckingInterval: Math.ceil(requestTimeout / 4),
    IncomingMessage: HttpRequest,
    ServerResponse: HttpResponse as unknown as typeof ServerResponse,
    ...SINCE_NODE_24,
  };
  const server = createServer(options);
  hearErrors(server);
  // Only the total size of the headers is limited. With a limit of their number, Node would silently drop further
  // headers.
  server.maxHeadersCount = 0;
  // Reading the address now makes Node cache it. After a client has reset its connection, the operating system no
  // longer knows the address.
  server.prependListener('connection', (socket) => socket.remoteAddress);
  made.connections.serve(server, handle);
  prioritizeNewConnections(server, made.connections);
  httpServers.set(server, made);
  return server;
}
