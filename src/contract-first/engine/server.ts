/** buildServer() adds every part of the server, in the order in which they take effect. It does not listen. */
import fastify, { type FastifyInstance } from 'fastify';
import fastifyPlugin, { type PluginMetadata } from 'fastify-plugin';
import type { DestinationStream, Logger } from 'pino';
import type { Claims } from '../registered.ts';
import { toKeyPrefix } from '../store/api-keys.ts';
import type { Store, WindowCounter } from '../store/store.ts';
import { addAuth, type Rates } from './access/auth.ts';
import { checkTokens } from './access/token-checks.ts';
import type { Contract } from './contract/contract.ts';
import { addDocs } from './docs/docs.ts';
import { addAccepting } from './http/accepting.ts';
import { addClientAddresses, buildIsProxy } from './http/client-address.ts';
import { addConnections, type ConnectionLimits } from './http/connections.ts';
import { addCors, toBareHeaders } from './http/cors.ts';
import { Counts } from './http/counts.ts';
import { addDraining, type Stop } from './http/draining.ts';
import { addErrorReplies, buildSendError, type SendError } from './http/error-replies.ts';
import { addPreBodyChecks, addRequestStart, buildArrive } from './http/every-request.ts';
import { addHealth, buildIsReady, type IsReady } from './http/health.ts';
import { buildToLogged } from './http/logged-urls.ts';
import { buildMakeError } from './http/made-errors.ts';
import { buildNotFound } from './http/not-found.ts';
import { addOverload, type RequestLimits } from './http/overload.ts';
import { addRawReplies, buildSendClientError, type RawRepliesOptions } from './http/raw-replies.ts';
import { buildRequestIds, buildRequestObserver } from './http/request-log.ts';
import { buildFastifyLog } from './http/request-logger.ts';
import { buildServerResponse } from './http/server-response.ts';
import { hearErrors } from './http/socket-errors.ts';
import { MAX_URL_LENGTH } from './http/thrown.ts';
import type { AddTraces } from './http/trace-context.ts';
import { takeBody } from './http/unwanted-bodies.ts';
import { addUpgrades, Request } from './http/upgrades.ts';
import { buildErrorFormOf } from './replies/error-bodies.ts';
import { addJsonBody } from './requests/json-body.ts';
import { addRawBodies } from './requests/raw-bodies.ts';
import type { CompiledOperations, OwnParts } from './routes/compiled-operations.ts';
import { addOperations, type Handlers, type OperationsOptions } from './routes/operations.ts';
import { addServices } from './services.ts';
import type { VerifyToken } from './tokens.ts';

export interface ServerOptions extends OwnParts {
  contract: Contract;
  handlers: Handlers;
  /** The compiled operations of the contract, if they are made already: several servers may share them. */
  compiled?: CompiledOperations;
  store: Store;
  /** The name of the service, with which its keys begin. */
  name: string;
  /** The folder of clients to copy; without it, `/docs` offers none. */
  clients?: URL;
  /** The team's services, for handlers. `/readyz` calls their `check`, the stop their `close`, if they have one. */
  services?: object;
  /** The answer of `/readyz`, where others in the process ask for it, too. */
  isReady?: IsReady;
  /** Checks tokens of other issuers; without it, a token is one of our keys. */
  verifyToken?: VerifyToken<Claims> | undefined;
  /** Keys that are valid beside those in the store. */
  apiKeys: readonly string[];
  /** The addresses and ranges of proxies whose `X-Forwarded-For` counts. */
  trustProxy: readonly string[];
  logger: Logger;
  /** Where the logger writes: the lines of requests go there as text. */
  lines: DestinationStream;
  /** Counts requests and connections for metrics; undefined if nobody reads them. */
  counts?: Counts | undefined;
  /** How long a request may take to arrive, in milliseconds. */
  requestTimeout: number;
  /** How long a connection may stay open without a request, in milliseconds; by default, Fastify's value. */
  keepAliveTimeout?: number | undefined;
  /** The origins whose pages may call; by default, none. */
  corsOrigins?: readonly string[];
  /** Registers the team's plugins, which see every request and every reply. */
  addPlugins?: ((app: FastifyInstance) => Promise<void>) | undefined;
  /** Limits of connections, requests and rates. */
  limits: ConnectionLimits & RequestLimits & Rates;
  /** The counter of rate limits that is shared with other servers; without it, this one counts alone. */
  countWindow?: WindowCounter | undefined;
  /** Adds traces; without it, nothing is traced. */
  addTraces?: AddTraces | undefined;
  /** Says whether the server was asked to stop. */
  stop: Stop;
}

/** @throws ContractError when contract and handlers disagree */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { contract, store, services = {}, logger, counts, limits, stop } = options;
  const { isReady = buildIsReady(store, services, logger) } = options;
  const given = { ...store.collections, services };
  const nextRequestId = buildRequestIds();
  const toLogged = buildToLogged(keysInQueries(contract), [toKeyPrefix(options.name), ...options.apiKeys]);
  const ownLog = buildFastifyLog(logger, toLogged);
  const watch = buildRequestObserver({ logger, lines: options.lines, toLogged, counts });
  const arrive = buildArrive(ownLog.log, watch);
  // Refused requests are counted even if nobody reads the counts: that is cheaper than a test each time.
  const counted = counts ?? new Counts();
  const makeError = buildMakeError(logger, buildErrorFormOf(options.toErrorBody));
  const sendError = buildSendError(logger, makeError);
  const raw = { logger, nextRequestId, makeError, counts: counted, bareHeaders: toBareHeaders(options.corsOrigins) };
  const frameworkErrors: SendError = (error, request, reply) => {
    arrive(request, reply, () => sendError(error, request, reply.headers(raw.bareHeaders)));
  };
  const app = createApp(options, raw, ownLog, frameworkErrors);
  const auth = { ...options, realm: contract.title, rates: limits, onRead: noteRead(counted) };

  const add = buildAdd(app);
  const connections = await add('connections', (app) => addConnections(app, limits, logger, counted));
  await add('upgrades', addUpgrades);
  await add('accepting', (app) => addAccepting(app.server, connections));
  const beginTrace = await add('traces', (app) => options.addTraces?.(app, store.collections, store.counts, toLogged));
  await add('overload', (app) => addOverload(app, { ...limits, ...raw, connections }));
  await add('error-replies', (app) => addErrorReplies(app, sendError));
  await add('services', (app) => addServices(app, store.collections, services));
  await add('raw-replies', (app) => addRawReplies(app, raw, toLogged));
  const toNotFound = await add('not-found', buildNotFound);
  const lastCall = await add('draining', (app) => addDraining(app, connections, stop));
  await add('request-start', (app) => addRequestStart(app, arrive, beginTrace));
  await add('cors', (app) => addCors(app, options.corsOrigins));
  await add('plugins', (app) => addTeamsPlugins(app, options));
  await add('pre-body-checks', (app) => addPreBodyChecks(app, toNotFound, lastCall, sendError));
  const authFor = await add('auth', (app) => addAuth(app, auth));
  const contracts = fastifyPlugin(addContract, { name: 'contract', ...NEEDED.contract, encapsulate: true });
  await app.register(contracts, { ...options, given, authFor });
  await add('docs', (app) => addDocs(app, contract, options.clients));
  await add('health', (app) => addHealth(app, isReady, stop));
  return app;
}

/** Adds the contract's routes in a context of their own: their parsers are not used for routes of plugins. */
async function addContract(app: FastifyInstance, options: OperationsOptions & ServerOptions): Promise<void> {
  checkTokens(options.contract, options.verifyToken);
  addJsonBody(app, options.contract);
  addRawBodies(app, options.contract, takeBody);
  await addOperations(app, options);
}

const noteRead = (counts: Counts) => () => {
  counts.keysReadAt = Date.now() / 1000;
};

const keysInQueries = ({ keyPlaces }: Contract): string[] =>
  keyPlaces.flatMap((place) => (place.in === 'query' ? [place.name] : []));

const CALLED = { decorators: { request: ['operationId', 'isReplayed', 'isAnswered', 'caller'] } };

/** The other parts and the decorations that a part needs. Fastify refuses a part without them. */
const NEEDED: Record<string, PluginMetadata> = {
  upgrades: { dependencies: ['connections'] },
  accepting: { dependencies: ['connections'] },
  overload: { dependencies: ['connections'] },
  'raw-replies': { dependencies: ['connections'] },
  draining: { dependencies: ['connections'] },
  'request-start': { dependencies: ['error-replies', 'traces'], decorators: { request: ['errorCode', 'refusal'] } },
  cors: { dependencies: ['request-start'], decorators: { fastify: ['methodsAt'] } },
  plugins: {
    dependencies: ['request-start'],
    decorators: { fastify: ['collections', 'services'], request: ['caller'] },
  },
  'pre-body-checks': { dependencies: ['not-found', 'draining'] },
  auth: { dependencies: ['pre-body-checks'], decorators: { request: ['caller'] } },
  contract: { dependencies: ['auth'], ...CALLED },
  docs: { dependencies: ['contract'] },
  health: { decorators: { fastify: ['services'] } },
};

/** Adds a part under the name that `app.printPlugins()` shows. */
const buildAdd =
  (app: FastifyInstance) =>
  async <Made>(name: string, part: (app: FastifyInstance) => Made): Promise<Awaited<Made>> => {
    let made: unknown;
    const plugin = async (app: FastifyInstance) => {
      made = await part(app);
    };
    await app.register(fastifyPlugin(plugin, { name, ...NEEDED[name] }));
    return made as Awaited<Made>;
  };

async function addTeamsPlugins(app: FastifyInstance, { addPlugins }: ServerOptions): Promise<void> {
  await addPlugins?.(app);
  // Waits for plugins that were registered without `await`, too.
  await app.after();
}

/** How long a part may take to load, in milliseconds: a contract of thousands of operations exceeds Fastify's ten seconds. */
const PART_TIMEOUT = 120_000;

/** Since 24.12, Node need not read a request without a body to its end, which takes a sixth of a get. Older versions ignore the option. */
const SINCE_NODE_24 = { optimizeEmptyRequests: true };

function createApp(
  { trustProxy, requestTimeout, keepAliveTimeout, stop }: ServerOptions,
  raw: RawRepliesOptions,
  { log, logController }: ReturnType<typeof buildFastifyLog>,
  frameworkErrors: SendError,
): FastifyInstance {
  // The address of a Unix socket is a string, its path.
  const isProxy = buildIsProxy(trustProxy, () => typeof app.server.address() === 'string');
  const app: FastifyInstance = fastify({
    logController,
    frameworkErrors,
    genReqId: raw.nextRequestId,
    trustProxy: isProxy ?? false,
    requestTimeout,
    ...(keepAliveTimeout !== undefined && { keepAliveTimeout }),
    http: {
      requireHostHeader: false,
      // Joins duplicate headers, to refuse them: Node would take the first, a proxy perhaps the last.
      joinDuplicateHeaders: true,
      requestTimeout,
      // Not longer than requestTimeout: Node would give the whole request that time.
      headersTimeout: requestTimeout,
      // The default of Node 22. With its own default, Node 20 would stop reading at a quarter of it.
      highWaterMark: 64 * 1024,
      connectionsCheckingInterval: Math.ceil(requestTimeout / 4),
      IncomingMessage: Request,
      ServerResponse: buildServerResponse(stop),
      ...SINCE_NODE_24,
    },
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    pluginTimeout: PART_TIMEOUT,
    return503OnClosing: false,
    clientErrorHandler: buildSendClientError(raw),
  });
  app.log = log;
  hearErrors(app.server);
  // No limit of the number of headers: Node would drop the rest silently. Their total size is limited.
  app.server.maxHeadersCount = 0;
  addClientAddresses(app, isProxy);
  return app;
}
