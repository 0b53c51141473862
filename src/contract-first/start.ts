/** Serves: reads the configuration, loads the contract, opens the store, builds the server, listens, stops on a signal. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Contract } from './engine/contract/contract.ts';
import { withPublicPath } from './engine/contract/public-path.ts';
import { extendSunsets } from './engine/contract/sunsets.ts';
import { buildIsReady } from './engine/http/health.ts';
import { listen } from './engine/http/listening.ts';
import type { AddTraces } from './engine/http/trace-context.ts';
import { buildShapes, checkStoredRecords } from './engine/routes/stored-records.ts';
import { buildServer } from './engine/server.ts';
import type { Settings } from './engine/services.ts';
import { type Config, ConfigError, type ConfigWith, loadConfig } from './operate/config.ts';
import { makeOneRunKey, showOneRunKey, takesKeys } from './operate/process/one-run-key.ts';
import { startOperating } from './operate/process/operating.ts';
import { onStopSignals } from './operate/process/signals.ts';
import { buildForcedEnd, prepareStop } from './operate/process/stopping.ts';
import { notifySystemd } from './operate/process/watchdog.ts';
import { type Log, openLog } from './operate/telemetry/log.ts';
import { loadOwnContract } from './own-contract.ts';
import type { Service } from './service.ts';
import { openStore } from './store/open-store.ts';
import { type Migrated, type Store, StoreError, StoreUnavailable } from './store/store.ts';

export async function start(service: Service): Promise<void> {
  const { domain, transactions } = service;
  const config = loadConfig(process.env, service);
  const loaded = await loadOwnContract(service);
  const contract = withPublicPath(extendSunsets(loaded, config.extendedSunsets), config.publicPath);
  const log = openLog(config.logLevel);
  notifySystemd(process.env);
  for (const warning of config.warnings) log.logger.warn(warning);
  const onMigrated = (migrated: Migrated) =>
    log.logger.info(migrated, migrated.from === 0 ? 'the database was made' : 'the database was migrated');
  const ofDomain = { shapes: buildShapes(contract, domain), transactions };
  const store = await openStore(config.database, domain, { ...config, onMigrated }, ofDomain);
  try {
    await checkStoredRecords(contract, domain, store);
    await serve(service, config, contract, store, log);
  } catch (error) {
    await store.close();
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new StoreError(`The database cannot be used now: ${(error.cause as Error).message}.`, { cause: error });
  }
}

async function serve(
  service: Service,
  config: ConfigWith<Settings>,
  contract: Contract,
  store: Store,
  log: Log,
): Promise<void> {
  const { logger } = log;
  const { name, handlers, domain, toErrorBody, verifyToken, buildServices } = service;
  const oneRunKey = await makeOneRunKey({ ...config, name }, store, logger, takesKeys(contract, verifyToken));
  const stop = { isAsked: false };
  const services = (await buildServices?.(config.services as never, { log: logger })) ?? {};
  const isReady = buildIsReady(store, services, logger);
  const operating = await startOperating(config, contract, store, isReady, stop, logger);
  const addTraces = config.isTraced ? await loadTraces(name, config, contract, logger) : undefined;
  const plugins = await service.loadPlugins?.();
  const app = await buildServer({
    addTraces,
    contract,
    ...{ name, handlers, domain, toErrorBody, verifyToken, addPlugins: plugins?.addPlugins },
    clients: new URL('clients/', service.contract),
    store,
    services,
    isReady,
    apiKeys: oneRunKey ? [oneRunKey] : config.apiKeys,
    trustProxy: config.trustProxy,
    logger,
    lines: log,
    counts: operating?.counts,
    requestTimeout: config.requestTimeout,
    keepAliveTimeout: config.keepAliveTimeout,
    corsOrigins: config.corsOrigins,
    limits: config,
    countWindow: store.countWindow,
    stop,
  });
  const listening = startListening(app, config);
  const endByForce = buildForcedEnd(logger, process.pid);
  const askToStop = prepareStop({ app, store, config, log, endByForce, listening, stop });
  onStopSignals({ onFirst: askToStop, onSecond: endByForce, logger });

  const origin = await listening;
  await operating?.listen();
  logger.info({ origin }, 'listening');
  if (oneRunKey) showOneRunKey(oneRunKey, origin, contract);
}

/** The names of OpenTelemetry's semantic conventions. */
const DATABASE_SYSTEMS = { memory: 'sqlite', sqlite: 'sqlite', postgres: 'postgresql' };

/** Loads OpenTelemetry's SDK only if it is used. */
async function loadTraces(
  name: string,
  { database, traceRatio, trustTraces }: Config,
  { document }: Contract,
  logger: Logger,
): Promise<AddTraces> {
  const { buildTraces } = await import('./operate/telemetry/traces.ts');
  const system = DATABASE_SYSTEMS[database.kind];
  const { version } = document.info;
  return buildTraces({ name, version, system, ratio: traceRatio, trusted: trustTraces, logger });
}

/** Returns the origin: `http://127.0.0.1:3000`. */
async function startListening(app: FastifyInstance, config: Config): Promise<string> {
  try {
    return await listen(app, config);
  } catch (error) {
    // Closes the app first, so that nothing uses the store while it is closed.
    await app.close();
    throw new ConfigError(`Cannot listen: ${(error as Error).message}. Set HOST or PORT to another.`);
  }
}
