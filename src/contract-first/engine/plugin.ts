/**
 * Adds a contract to any Fastify app. The routes, error replies, key checks and documents of the contract are in a
 * separate encapsulation context.
 */
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
 * The options of the documents. `prefix` is the path before `/docs` and `/openapi.json`. If an operation of the
 * contract already uses `/openapi.json`, the document is served at `/docs/openapi.json`.
 */
export interface DocsOptions {
  prefix?: string;
}

export interface PluginOptions extends TeamParts {
  /** The contract. The contract's prefix must begin with the prefix that the plugin is registered with. */
  contract: Contract;
  handlers: Handlers;
  /**
   * The compiled operations of the contract. Pass them if several servers in a process share them; by default, the
   * plugin compiles them.
   */
  compiled?: CompiledOperations;
  store: Store;
  /**
   * The team's services, which handlers can use. `/readyz` calls the `check` of each service that defines one, and the
   * stop calls `close`.
   */
  services?: object;
  /**
   * The check that `/readyz` calls. Pass it if other code in the process also calls the check; by default, the plugin
   * builds one.
   */
  isReady?: IsReady;
  /**
   * Checks tokens of other issuers. Without `verifyToken`, clients can only send the service's own keys in place of a
   * token.
   */
  verifyToken?: VerifyToken<Claims> | undefined;
  /** Keys that are valid in addition to the keys in the store. */
  apiKeys: readonly string[];
  /** The rate limits of keys and of addresses. */
  limits: Rates;
  /** The counter of rate limits that several servers share. By default, this server counts alone. */
  countWindow?: WindowCounter | undefined;
  logger: Logger;
  /** The prefix that the plugin was registered with. */
  prefix?: string | undefined;
  docs: DocsOptions | false;
  /** The folder of the API clients that `/docs` offers for copying. Without it, `/docs` offers no clients. */
  clients?: URL | undefined;
  health: Partial<HealthPaths> | false;
  /**
   * Finds the methods that are served at a URL. Only `buildServer` passes this function: it has already called
   * `addRequestState` for the app.
   */
  methodsAt?: MethodsAt;
}

const HEALTH: HealthPaths = { livez: '/livez', readyz: '/readyz' };

/**
 * Adds `contractFirst` to the app and its requests, and makes the app close the services when it closes. Returns a
 * function that finds the methods of a URL. Call this before you add routes, because the returned function does not
 * know earlier routes.
 */
export function addRequestState(app: FastifyInstance, { collections }: Store, services: object): MethodsAt {
  const methodsAt = buildMethodsAt(app);
  addState(app, { collections, services, methodsAt } as AppState);
  addServices(app, services);
  return methodsAt;
}

/** Builds the function that sends errors with the codes of this service, and with bodies in its form. */
export function buildServiceErrors({ logger, toErrorBody, domain, contract }: ServiceErrors): SendError {
  return buildSendError(
    logger,
    buildRenderError(logger, buildErrorFormOf(toErrorBody, {}, errorTypeOf(contract))),
    buildCatalogue(domain),
  );
}
type ServiceErrors = Pick<PluginOptions, 'logger' | 'toErrorBody' | 'domain' | 'contract'>;

/**
 * Adds the contract to the app. The app must be the encapsulated context of a plugin. Otherwise, the contract's
 * parsers, hooks and decorations would also affect the team's own routes.
 */
export async function addContract(app: FastifyInstance, options: PluginOptions): Promise<void> {
  const { contract, store, services = {}, logger, docs, health } = options;
  const server = httpServerOf(app);
  server?.adopt(app);
  const { methodsAt = addRequestState(app, store, services) } = options;
  // If `methodsAt` was passed, the caller is `buildServer`, which adds this check itself, for all routes.
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
    // If the contract does not have a prefix, its 404 handler would replace the app's own handler.
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
