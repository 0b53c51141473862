/**
 * Builds the whole server, without starting to listen. Errors of the team's own routes are also sent in the contract's
 * form.
 */
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { toKeyPrefix } from '../store/api-keys.ts';
import type { Contract } from './contract/contract.ts';
import { addFrontDoor } from './docs/front-door.ts';
import { errorTypeOf } from './errors/error-body.ts';
import { addCors } from './http/cors.ts';
import { addErrorReplies, type SendError } from './http/error-replies.ts';
import type { AddTraces } from './http/log/request-log.ts';
import { addFormCheck } from './http/malformed.ts';
import { addNotFound, type MethodsAt } from './http/not-found.ts';
import { createApp, type HttpOptions } from './http/server-options.ts';
import { addContract, addRequestState, buildServiceErrors, type PluginOptions } from './plugin.ts';

export interface ServerOptions
  extends Omit<PluginOptions, 'prefix' | 'methodsAt' | 'limits' | 'docs' | 'health'>,
    Omit<HttpOptions, 'secrets' | 'secretNames' | 'limits'>,
    Partial<Pick<PluginOptions, 'docs' | 'health'>> {
  /** The name of the service. API keys begin with this name. */
  name: string;
  /** Limits of connections, requests and rates. */
  limits: PluginOptions['limits'] & HttpOptions['limits'];
  /** Registers the team's plugins with the app. Hooks of these plugins run for every request and every reply. */
  addPlugins?: ((app: FastifyInstance) => Promise<void>) | undefined;
  /** If true, the store is closed when the app closes. */
  ownsStore?: boolean;
  /** Called as the last step of closing the app, to close a log that belongs to the app. */
  closeLog?: (() => Promise<void>) | undefined;
  /** Adds traces. If it is missing, nothing is traced. */
  addTraces?: AddTraces | undefined;
}

/** Builds the server. @throws ContractError if contract and handlers disagree */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { contract, store, services = {}, corsOrigins, docs = {}, health = {} } = options;
  const secrets = [toKeyPrefix(options.name), ...options.apiKeys];
  const { app, server } = createApp({
    ...options,
    errorType: errorTypeOf(contract),
    secrets,
    secretNames: keysInQueries(contract),
  });
  const { toLogged, toAddress } = server;
  // The hook that closes the log is added first so that it runs last: Fastify calls the hooks for `onClose` in reverse
  // order.
  if (options.closeLog) app.addHook('onClose', options.closeLog);
  if (options.ownsStore) app.addHook('onClose', async () => store.close());
  server.adopt(app);
  server.beginTrace = options.addTraces?.(app, store.collections, store.counts, toLogged, toAddress);
  const sendError = buildServiceErrors(options);
  addErrorReplies(app, sendError);
  const methodsAt = addRequestState(app, store, services);
  await app.register(fastifyPlugin((app) => addCors(app, corsOrigins), { name: 'cors' }));
  await app.register(fastifyPlugin((app) => addTeamsPlugins(app, options), { name: 'plugins' }));
  addFormCheck(app);
  addNotFoundReplies(app, methodsAt, sendError);
  const contracts = fastifyPlugin(addContract, { name: 'contract', encapsulate: true });
  await app.register(contracts, { ...options, docs, health, methodsAt });
  if (docs) await addFrontDoor(app, contract, docs.prefix ?? '');
  return app;
}

/** Returns the names of the query parameters that contain keys. */
export const keysInQueries = ({ keyLocations }: Contract): string[] =>
  keyLocations.flatMap((location) => (location.in === 'query' ? [location.name] : []));

async function addTeamsPlugins(app: FastifyInstance, { addPlugins }: ServerOptions): Promise<void> {
  await addPlugins?.(app);
  // Also waits for those of the team's plugins that were registered without `await`.
  await app.after();
}

function addNotFoundReplies(app: FastifyInstance, methodsAt: MethodsAt, sendError: SendError): void {
  try {
    addNotFound(app, methodsAt, sendError);
  } catch {
    // The team has set its own 404 handler. Requests below the contract's prefix do not reach that handler.
  }
}
