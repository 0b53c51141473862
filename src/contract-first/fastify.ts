/**
 * `contract-first/fastify` exports three functions. The plugin, which is the default export, serves a service's
 * contract in an app that its team has made. `serverOptions()` returns options for Fastify's server, for promises that
 * a plugin cannot keep. `build()` makes an app with both.
 */
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Logger } from 'pino';
import type { Rates } from './engine/access/auth.ts';
import { checkTokens } from './engine/access/token-auth.ts';
import type { Contract } from './engine/contract/contract.ts';
import { withPrefix } from './engine/contract/operator-changes.ts';
import type { HealthPaths } from './engine/http/health.ts';
import { httpServerOf } from './engine/http/server-options.ts';
import { addContract, type DocsOptions } from './engine/plugin.ts';
import { checkStoredRecords } from './engine/routes/stored-records.ts';
import { keysInQueries } from './engine/server.ts';
import type { VerifyToken } from './engine/tokens.ts';
import { loadConfig } from './operate/config.ts';
import { OperatorError } from './operator-error.ts';
import type { Claims } from './registered.ts';
import { loadServiceContract } from './service-contract.ts';
import { openServiceStore, startServices } from './start/opening.ts';
import type { Service } from './start/service.ts';
import { findKeyProblems, toKeyPrefix } from './store/api-keys.ts';
import { DATABASE_FORMS, parseDatabaseUrl } from './store/database-url.ts';
import { isRate } from './store/rates.ts';
import type { Store, StoreLimits, WindowCounter } from './store/store.ts';

export { type HttpOptions, serverOptions } from './engine/http/server-options.ts';
export { type BuildParts, build } from './start/build.ts';

export interface ContractFirstOptions {
  service: Service;
  /**
   * An open store, which the caller must close, or the URL of a database, as in `DATABASE_URL`. The plugin opens and
   * migrates the store of a URL, and closes it with the app.
   */
  store: Store | { url: string };
  /**
   * The services of the team. By default, `buildServices` makes them, with the fallbacks of its settings. The app
   * closes them.
   */
  services?: object;
  /** API keys that are valid in addition to those in the store. */
  apiKeys?: readonly string[];
  rates?: Rates;
  /**
   * The function that counts requests for rate limits, if several servers share the limits. By default, it is the
   * store's function.
   */
  countWindow?: WindowCounter;
  /** A function that replaces the service's own `verifyToken`. */
  verifyToken?: VerifyToken<Claims>;
  /**
   * The prefix of all paths, including those in links, `Location` and the served contract. By default, the path of the
   * contract's server.
   */
  prefix?: string;
  /** The paths of the documents. By default, documents are not served. */
  docs?: DocsOptions | false;
  health?: Partial<HealthPaths> | false;
}

/** Matches a prefix with a parameter or a wildcard, because the links in replies need the whole prefix. */
const VARIABLE = /(?<!:):(?!:)|[*]/;

/**
 * Matches a prefix that is the same when URL-encoded. Fastify needs the decoded prefix, and headers need the encoded
 * one.
 */
const PLAIN = /^[\w.~:@!$&'()+,;=/-]*$/;

/**
 * Serves a service in the app, after checking that the app can serve its contract. @throws OperatorError with the
 * remedy if it cannot
 */
async function addService(app: FastifyInstance, options: ContractFirstOptions): Promise<void> {
  const { service, apiKeys = [], rates = {}, docs = false, health = false, prefix } = options;
  if (VARIABLE.test(app.prefix))
    throw new OperatorError(`contract-first needs a prefix without parameters, not ${app.prefix}.`);
  if (!PLAIN.test(app.prefix))
    throw new OperatorError(`contract-first needs a prefix of characters that URLs have unencoded, not ${app.prefix}.`);
  checkOptions(apiKeys, rates);
  const loaded = await loadServiceContract(service);
  checkTokens(loaded, options.verifyToken ?? service.verifyToken);
  const around = app.prefix.replaceAll('::', ':').replace(/\/$/, '');
  const contract = withPrefix(loaded, prefix === undefined ? around + loaded.prefix : around);
  const defaults = loadConfig({}, options.services ? { name: service.name } : service);
  const log = app.log as Logger;
  const services = options.services ?? (await startServices(service, defaults.services, { log }));
  const store = await toStore(app, options, contract, defaults);
  const { countWindow = store.countWindow, verifyToken = service.verifyToken } = options;
  httpServerOf(app)?.hide(keysInQueries(contract), [toKeyPrefix(service.name), ...apiKeys]);
  await addContract(app, {
    ...service,
    ...{
      contract,
      store,
      services,
      apiKeys,
      limits: rates,
      countWindow,
      verifyToken,
      logger: log,
      prefix,
      docs,
      clients: new URL('clients/', service.contract),
      health,
    },
  });
}

/**
 * Checks `apiKeys` and `rates` by the rules for settings. @throws OperatorError for wrong values; its message does not
 * contain keys
 */
function checkOptions(apiKeys: readonly string[], rates: Rates): void {
  const [problem] = findKeyProblems(apiKeys);
  if (problem) throw new OperatorError(`contract-first: apiKeys: ${problem}.`);
  for (const [name, rate] of Object.entries(rates))
    if (rate !== undefined && !isRate(rate))
      throw new OperatorError(
        `contract-first: rates.${name} must be a limit and a window in seconds, such as { limit: 100, window: 1 }.`,
      );
}

async function toStore(
  app: FastifyInstance,
  { store, service }: ContractFirstOptions,
  contract: Contract,
  limits: StoreLimits,
): Promise<Store> {
  if (!('url' in store)) {
    await checkStoredRecords(contract, service.domain, store);
    return store;
  }
  const database = parseDatabaseUrl(store.url, service.name);
  // The message does not contain the URL, which may contain a password.
  if (!database) throw new OperatorError(`contract-first needs a store with a url of the form ${DATABASE_FORMS}.`);
  const opened = await openServiceStore(service, contract, database, limits);
  app.addHook('onClose', async () => opened.close());
  return opened;
}

const contractFirst = fastifyPlugin(addService, { name: 'contract-first', fastify: '5.x', encapsulate: true });

export default contractFirst;
