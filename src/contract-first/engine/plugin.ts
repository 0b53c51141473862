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

/**
 * The prefix of the documents `/docs` and `/openapi.json`. If an operation uses `/openapi.json`, the document is at `/docs/openapi.json`.
 */
export interface DocsOptions {
  prefix?: string;
}

export interface PluginOptions extends TeamParts {
  /** The contract, with a prefix that begins with the prefix of the app. */
  contract: Contract;
  handlers: Handlers;
  /** The compiled operations of the contract, if they exist already, since several servers may share them. */
  compiled?: CompiledOperations;
  store: Store;
  /** The team's services, for handlers. `/readyz` calls their `check`, and the stop their `close`, if defined. */
  services?: object;
  /** The readiness check behind `/readyz`, if other parts of the process also need it. */
  isReady?: IsReady;
  /** Checks tokens of other issuers. If it is missing, only the service's own keys are accepted as tokens. */
  verifyToken?: VerifyToken<Claims> | undefined;
  /** Keys that are valid in addition to those in the store. */
  apiKeys: readonly string[];
  /** Limits of rates. */
  limits: Rates;
  /** The counter of rate limits that several servers share. If it is missing, this server counts alone. */
  countWindow?: WindowCounter | undefined;
  logger: Logger;
  /** The prefix that the plugin was registered with. */
  prefix?: string | undefined;
  docs: DocsOptions | false;
  /** The folder of the clients to copy. If it is missing, `/docs` offers no clients. */
  clients?: URL | undefined;
  health: Partial<HealthPaths> | false;
  /** The function that finds the methods at a URL, in a server of `build`. */
  methodsAt?: MethodsAt;
}

const HEALTH: HealthPaths = { livez: '/livez', readyz: '/readyz' };

/** Decorates the app for plugins, and closes the services with the app. Call this before routes are added. */
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

/** Adds the contract to a context of its own, so that its parsers, hooks and decorations do not affect the team's routes. */
export async function addContract(app: FastifyInstance, options: PluginOptions): Promise<void> {
  const { contract, store, services = {}, logger, docs, health } = options;
  const server = httpServerOf(app);
  server?.adopt(app);
  const { methodsAt = addRequestState(app, store, services) } = options;
  // A server of `build` checks the requests to all routes.
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
