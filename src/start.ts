/** Runs the process: reads the configuration, loads the contract, opens the store, builds the server, listens, stops on a signal. */
import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Contract } from './engine/contract/contract.ts';
import { extendSunsets } from './engine/contract/deprecation.ts';
import { checkDigest } from './engine/contract/digest.ts';
import { loadOwnContract } from './engine/contract/load-contract.ts';
import { withPublicPath } from './engine/contract/public-path.ts';
import { listen } from './engine/http/connections/listening.ts';
import type { AddTraces } from './engine/http/log/trace-context.ts';
import { buildShapes, checkStoredRecords } from './engine/routes/stored-records.ts';
import { toErrorBody } from './errors.ts';
import { domain } from './generated/domain.ts';
import { CONTRACT_DIGEST, handlers } from './generated/handlers.ts';
import { type Config, ConfigError, type ConfigWith, loadConfig } from './operate/config.ts';
import { makeOneRunKey, showOneRunKey, takesKeys } from './operate/process/one-run-key.ts';
import { startOperating, startReports } from './operate/process/operating.ts';
import { askFirstProcess } from './operate/process/shared-window-counter.ts';
import { onStopSignals } from './operate/process/signals.ts';
import { buildForcedEnd, prepareStop, stopDeadline } from './operate/process/stopping.ts';
import { tellSystemd } from './operate/process/watchdog.ts';
import { onStopAsked, startBeating, untilNoneListens } from './operate/process/worker.ts';
import { superviseWorkers } from './operate/process/workers.ts';
import { type Log, openLog } from './operate/telemetry/log.ts';
import { buildServices, settings } from './services.ts';
import { openStore } from './store/open-store.ts';
import { type Migrated, type Store, StoreError, StoreUnavailable } from './store/store.ts';
import { verifyToken } from './tokens.ts';
import { transactions } from './writing.ts';

async function start(): Promise<void> {
  const config = loadConfig(process.env, new Map(), settings);
  const loaded = await loadOwnContract(CONTRACT_DIGEST);
  const contract = withPublicPath(extendSunsets(loaded, config.extendedSunsets), config.publicPath);
  checkDigest(contract, CONTRACT_DIGEST);
  const log = openLog(config.logLevel);
  if (cluster.isPrimary) tellSystemd(process.env);
  if (cluster.isPrimary) for (const warning of config.warnings) log.logger.warn(warning);
  const onMigrated = (migrated: Migrated) =>
    log.logger.info(migrated, migrated.from === 0 ? 'the database was made' : 'the database was migrated');
  const limits = { ...config, isMigrated: cluster.isWorker, onMigrated };
  const store = await openStore(config.database, domain, limits, {
    shapes: buildShapes(contract, domain),
    transactions,
  });
  try {
    await checkStoredRecords(contract, domain, store);
    if (config.workers > 1 && cluster.isPrimary) await serveByWorkers(config, contract, store, log);
    else await serve(config, contract, store, log);
  } catch (error) {
    await store.close();
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new StoreError(`The database cannot be used now: ${(error.cause as Error).message}.`, { cause: error });
  }
}

async function serveByWorkers(config: Config, contract: Contract, store: Store, log: Log): Promise<void> {
  const oneRunKey = await makeOneRunKey(config, store, log.logger, takesKeys(contract, verifyToken));
  await store.close();
  const reports = await startReports(config, contract, log.logger);
  superviseWorkers({
    reports,
    count: config.workers,
    env: oneRunKey ? { API_KEYS: oneRunKey, API_KEYS_FILE: '' } : {},
    log,
    deadline: stopDeadline(config),
    endByForce: buildForcedEnd(log.logger, process.pid),
    onListening: (origin) => oneRunKey && showOneRunKey(oneRunKey, origin, contract),
  });
}

async function serve(config: ConfigWith<typeof settings>, contract: Contract, store: Store, log: Log): Promise<void> {
  const { logger } = log;
  // A worker never makes a key: all keys may have been revoked since the first process started.
  const oneRunKey = await makeOneRunKey(config, store, logger, !cluster.isWorker && takesKeys(contract, verifyToken));
  const stop = { isAsked: false };
  const services = await buildServices(config.services, { log: logger });
  const operating = await startOperating(config, contract, store, services, stop, logger);
  // Loaded here, because a first process that only starts workers does not need them.
  const [{ buildServer }, { addPlugins }] = await Promise.all([import('./engine/server.ts'), import('./plugins.ts')]);
  const addTraces = config.isTraced ? await loadTraces(config, contract, logger) : undefined;
  const app = await buildServer({
    addTraces,
    contract,
    ...{ handlers, toErrorBody, verifyToken, addPlugins },
    store,
    services,
    apiKeys: oneRunKey ? [oneRunKey] : config.apiKeys,
    trustProxy: config.trustProxy,
    logger,
    lines: log,
    counts: operating?.counts,
    requestTimeout: config.requestTimeout,
    keepAliveTimeout: config.keepAliveTimeout,
    corsOrigins: config.corsOrigins,
    limits: config,
    countWindow: store.countWindow ?? (cluster.isWorker ? askFirstProcess() : undefined),
    stop,
    untilNoneListens: async () => cluster.isWorker && untilNoneListens(config.stopTimeout / 4),
  });
  const listening = startListening(app, config);
  const endByForce = buildForcedEnd(logger, process.pid);
  const askToStop = prepareStop({ app, store, config, log, endByForce, listening, stop });
  if (cluster.isWorker) startBeating();
  if (cluster.isWorker) onStopAsked(askToStop);
  else onStopSignals({ onFirst: askToStop, onSecond: endByForce, logger });

  const origin = await listening;
  await operating?.listen();
  logger.info({ origin }, 'listening');
  if (oneRunKey) showOneRunKey(oneRunKey, origin, contract);
}

/** The names of OpenTelemetry's semantic conventions. */
const DATABASE_SYSTEMS = { memory: 'sqlite', sqlite: 'sqlite', postgres: 'postgresql' };

/** Loads OpenTelemetry's SDK only if it is used. */
async function loadTraces(
  { database, traceRatio, trustTraces }: Config,
  { document }: Contract,
  logger: Logger,
): Promise<AddTraces> {
  const { buildTraces } = await import('./operate/telemetry/traces.ts');
  const system = DATABASE_SYSTEMS[database.kind];
  const { version } = document.info;
  return buildTraces({ name: 'petstore', version, system, ratio: traceRatio, trusted: trustTraces, logger });
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

/** Runs `--check`, whose code is loaded only here. */
async function check(): Promise<void> {
  const { checkStart } = await import('./operate/cli/dry-run.ts');
  if (!(await checkStart(process.env, console.log, settings, verifyToken))) process.exitCode = 1;
}

function showVersion(): void {
  console.log(JSON.parse(readFileSync(new URL(import.meta.resolve('#package')), 'utf8')).version);
}

/** @throws ConfigError with the usage: a misspelt option must not start a server */
async function run([option, ...rest]: string[]): Promise<void> {
  if (option === undefined) return start();
  if (option === '--check' && rest.length === 0) return check();
  if (option === '--version' && rest.length === 0) return showVersion();
  throw new ConfigError(
    'Usage: node dist/src/main.js [--check | --version]. Settings are variables of the environment: see src/operate/config.md.',
  );
}

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
