/** Adds a contract to any Fastify app, in its own encapsulation context: its routes, their errors, keys and documents. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Claims } from '../registered.ts';
import type { Store, WindowCounter } from '../store/store.ts';
import { addAuth, type Rates } from './access/auth.ts';
import type { Contract } from './contract/contract.ts';
import { addDocs } from './docs/docs.ts';
import { buildCatalogue } from './errors/catalogue.ts';
import { buildErrorFormOf, buildRenderError, errorTypeOf } from './errors/error-body.ts';
import { allowUnreadBody } from './http/connections/request.ts';
import { addErrorReplies, buildSendError, type SendError } from './http/error-replies.ts';
import { addHealth, buildIsReady, type HealthPaths, type IsReady } from './http/health.ts';
import { addFormCheck } from './http/malformed.ts';
import { addNotFound, buildMethodsAt, type MethodsAt } from './http/not-found.ts';
import { httpServerOf } from './http/server-options.ts';
import { type AppState, addState } from './request-state.ts';
import { addJsonBody, addRawBodies } from './requests/bodies.ts';
import type { CompiledOperations, TeamParts } from './routes/compiled-operations.ts';
import { addOperations, escapeColons, type Handlers } from './routes/operations.ts';
import { addServices } from './services.ts';
import type { VerifyToken } from './tokens.ts';

/** The prefix of the documents `/docs` and `/openapi.json`, or `/docs/openapi.json` if the contract has an operation at `/openapi.json`. */
export interface DocsOptions {
  prefix?: string;
}

export interface PluginOptions extends TeamParts {
  /** The contract, with a prefix that begins with the app's. */
  contract: Contract;
  handlers: Handlers;
  /** The compiled operations of the contract, if they are made already: several servers may share them. */
  compiled?: CompiledOperations;
  store: Store;
  /** The team's services, for handlers. `/readyz` calls their `check`, and the stop their `close`, if defined. */
  services?: object;
  /** The answer of `/readyz`, if others in the process also need it. */
  isReady?: IsReady;
  /** Checks tokens of other issuers; without it, a token is one of our keys. */
  verifyToken?: VerifyToken<Claims> | undefined;
  /** Keys that are valid in addition to those in the store. */
  apiKeys: readonly string[];
  /** Limits of rates. */
  limits: Rates;
  /** The counter of rate limits that is shared with other servers; without it, this one counts alone. */
  countWindow?: WindowCounter | undefined;
  logger: Logger;
  /** The prefix that the plugin was registered with. */
  prefix?: string | undefined;
  docs: DocsOptions | false;
  /** The folder of clients to copy; without it, `/docs` offers none. */
  clients?: URL | undefined;
  health: Partial<HealthPaths> | false;
  /** In a server that is built whole: the methods at the URLs of all routes. */
  methodsAt?: MethodsAt;
}

const HEALTH: HealthPaths = { livez: '/livez', readyz: '/readyz' };

/** Decorates the app for plugins, and closes the services with it. To be called before routes are added. */
export function addRequestState(app: FastifyInstance, { collections }: Store, services: object): MethodsAt {
  const methodsAt = buildMethodsAt(app);
  addState(app, { collections, services, methodsAt } as AppState);
  addServices(app, services);
  return methodsAt;
}

/** Builds the function that sends errors with the service's own codes and bodies. */
export function buildServiceErrors({ logger, toErrorBody, domain, contract }: ServiceErrors): SendError {
  return buildSendError(
    logger,
    buildRenderError(logger, buildErrorFormOf(toErrorBody, {}, errorTypeOf(contract))),
    buildCatalogue(domain),
  );
}
type ServiceErrors = Pick<PluginOptions, 'logger' | 'toErrorBody' | 'domain' | 'contract'>;

/** Needs its own encapsulation context: its parsers, hooks and decorations do not affect the team's routes. */
export async function addContract(app: FastifyInstance, options: PluginOptions): Promise<void> {
  const { contract, store, services = {}, logger, docs, health } = options;
  const server = httpServerOf(app);
  server?.adopt(app);
  const { methodsAt = addRequestState(app, store, services) } = options;
  // A server that is built whole checks the requests to all routes.
  if (!options.methodsAt) addFormCheck(app);
  const sendError = buildServiceErrors(options);
  addErrorReplies(app, sendError);
  const authFor = await addAuth(app, {
    ...options,
    realm: contract.title,
    rates: options.limits,
    toAddress: server && (({ raw }) => server.toAddress(raw)),
    onRead: () => {
      if (server) server.counts.keysReadAt = Date.now() / 1000;
    },
  });
  const below = contract.prefix.slice(app.prefix.replaceAll('::', ':').length);
  const operations = async (inside: FastifyInstance) => {
    addJsonBody(inside, contract);
    addRawBodies(inside, contract, allowUnreadBody);
    // Without a prefix, this handler of unknown paths would replace the app's own.
    if (contract.prefix !== '' && (below || options.prefix)) addNotFound(inside, methodsAt, sendError);
    await addOperations(inside, { ...options, given: { ...store.collections, services }, authFor });
  };
  await app.register(operations, { prefix: escapeColons(below) });
  if (docs) addDocs(app, contract, docs.prefix ?? '', options.clients);
  if (health) {
    const { isReady = buildIsReady(store, services, logger) } = options;
    const paths = { ...HEALTH, ...health };
    for (const path of Object.values(paths)) server?.healthPaths.add(app.prefix + path);
    addHealth(app, paths, isReady, server?.stop ?? { isAsked: false });
  }
}
