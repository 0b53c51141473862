/**
 * Starts a server: reads the configuration, loads the contract, opens the store, builds the app, and listens. Stops it
 * on a signal.
 */

import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Contract } from '../engine/contract/contract.ts';
import { buildCatalogue } from '../engine/errors/catalogue.ts';
import { checkAddress, listen } from '../engine/http/connections/listening.ts';
import { buildIsReady } from '../engine/http/health.ts';
import type { AddTraces } from '../engine/http/log/request-log.ts';
import type { Settings } from '../engine/services.ts';
import { type Config, ConfigError, type ConfigWith, loadConfig } from '../operate/config.ts';
import { makeOneRunKey, NO_KEY_CONFIGURED, takesKeys, toFirstWords } from '../operate/process/one-run-key.ts';
import { notifySystemd, startOperating } from '../operate/process/operating.ts';
import { onStopSignals } from '../operate/process/signals.ts';
import { buildForcedEnd, prepareStop } from '../operate/process/stopping.ts';
import { type Log, openLog } from '../operate/telemetry/log.ts';
import { loadOpenTelemetry, type OpenTelemetry } from '../operate/telemetry/open-telemetry.ts';
import { buildTraces } from '../operate/telemetry/traces.ts';
import { isNew } from '../store/open-store.ts';
import type { Migrated, Store } from '../store/store.ts';
import { build } from './build.ts';
import { closeIfFailed, loadServed, openServiceStore, startServices } from './opening.ts';
import type { Service } from './service.ts';

export async function start(service: Service): Promise<void> {
  const config = loadConfig(process.env, service);
  const openTelemetry = config.isTraced ? loadOpenTelemetry(service.contract) : undefined;
  const contract = await loadServed(service, config);
  const log = openLog(config.logLevel, config.logFormat);
  notifySystemd(process.env);
  const onWarning = (warning: string) => log.logger.warn(warning);
  config.warnings.forEach(onWarning);
  const onMigrated = (migrated: Migrated) =>
    log.logger.info(migrated, migrated.from === 0 ? 'the database was made' : 'the database was migrated');
  await checkFirstStart(config, service, takesKeys(contract, service.verifyToken));
  const store = await openServiceStore(service, contract, config.database, { ...config, onMigrated, onWarning });
  await closeIfFailed(store, () => serve(service, config, contract, store, log, openTelemetry));
}

/**
 * Checks a first start before it creates a database. @throws ConfigError if the address is in use; in production also
 * if no API key is configured
 */
async function checkFirstStart(config: Config, { domain }: Service, isTaken: boolean): Promise<void> {
  if (!(await isNew(config.database, domain))) return;
  if (isTaken && config.apiKeys.length === 0 && config.isProduction) throw new ConfigError(NO_KEY_CONFIGURED);
  try {
    await checkAddress(config);
  } catch (error) {
    throw cannotListen(error);
  }
}

const cannotListen = (error: unknown) =>
  new ConfigError(`Cannot listen: ${(error as Error).message}. Set HOST or PORT to another.`);

async function serve(
  service: Service,
  config: ConfigWith<Settings>,
  contract: Contract,
  store: Store,
  log: Log,
  openTelemetry: OpenTelemetry | undefined,
): Promise<void> {
  const { logger } = log;
  const { name } = service;
  const oneRunKey = await makeOneRunKey({ ...config, name }, store, logger, takesKeys(contract, service.verifyToken));
  const stop = { isAsked: false };
  const services = await startServices(service, config.services, { log: logger });
  const isReady = buildIsReady(store, services, logger);
  const operating = await startOperating(
    config,
    contract,
    store,
    isReady,
    stop,
    logger,
    buildCatalogue(service.domain),
  );
  const addTraces = openTelemetry && toTraces(openTelemetry, name, config, contract, logger);
  const own = { ...config, apiKeys: oneRunKey ? [oneRunKey] : config.apiKeys };
  const made = { contract, store, log, services, isReady, stop, addTraces, counts: operating?.counts };
  const app = await build(service, own, made);
  const listening = startListening(app, config);
  const endByForce = buildForcedEnd(logger, process.pid);
  const askToStop = prepareStop({ app, store, config, log, endByForce, listening, stop });
  onStopSignals({ onFirst: askToStop, onSecond: endByForce, logger, env: process.env });

  const origin = await listening;
  await operating?.listen();
  logger.info({ origin }, 'listening');
  if (oneRunKey) process.stderr.write(toFirstWords(oneRunKey, origin, contract));
}

/** The values of the attribute `db.system.name` in OpenTelemetry's semantic conventions. */
const DATABASE_SYSTEMS = { memory: 'sqlite', sqlite: 'sqlite', postgres: 'postgresql' };

function toTraces(
  openTelemetry: OpenTelemetry,
  name: string,
  { database, traceRatio, trustTraces }: Config,
  { document }: Contract,
  logger: Logger,
): AddTraces {
  const system = DATABASE_SYSTEMS[database.kind];
  const { version } = document.info;
  return buildTraces({ openTelemetry, name, version, system, ratio: traceRatio, trusted: trustTraces, logger });
}

/** Listens, and returns the origin: `http://127.0.0.1:3000`. */
async function startListening(app: FastifyInstance, config: Config): Promise<string> {
  try {
    return await listen(app, config);
  } catch (error) {
    // Closes the app here, because the caller closes the store after this error, and the app still uses the store.
    await app.close();
    throw cannotListen(error);
  }
}
