/** Builds the whole server of a service, for tests and for the process. The server does not listen. */
import type { FastifyInstance } from 'fastify';
import { buildServer, type ServerOptions } from '../engine/server.ts';
import type { Settings } from '../engine/services.ts';
import { type ConfigWith, loadConfig } from '../operate/config.ts';
import { type Log, openLog } from '../operate/telemetry/log.ts';
import { closeIfFailed, loadServed, openServiceStore, startServices } from './opening.ts';
import type { Service } from './service.ts';

/**
 * Objects that the caller has already made, such as a store, and options that are not in the configuration. If the
 * caller passes a store, it must also close it.
 */
export interface BuildParts
  extends Partial<Pick<ServerOptions, 'contract' | 'store' | 'services' | 'isReady' | 'stop' | 'docs' | 'health'>>,
    Pick<ServerOptions, 'counts' | 'addTraces'> {
  log?: Pick<Log, 'logger' | 'write'>;
}

/**
 * Builds the app of a service. Settings that are not in `given` get their default values, because the environment is
 * not read.
 */
export async function build(
  service: Service,
  given: Partial<ConfigWith<Settings>> = {},
  made: BuildParts = {},
): Promise<FastifyInstance> {
  const config = { ...loadConfig({}, given.services ? { name: service.name } : service), ...given };
  if (made.log) return buildWith(service, config, made, made.log);
  const log = openLog(config.logLevel);
  try {
    return await buildWith(service, config, made, log, log.close);
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function buildWith(
  service: Service,
  config: ConfigWith<Settings>,
  made: BuildParts,
  log: NonNullable<BuildParts['log']>,
  closeLog?: () => Promise<void>,
): Promise<FastifyInstance> {
  const contract = made.contract ?? (await loadServed(service, config));
  const store = made.store ?? (await openServiceStore(service, contract, config.database, config));
  const { logger } = log;
  const serve = async () =>
    buildServer({
      ...{ ...service, ...config, ...(await service.loadPlugins?.()), ...made },
      ...{ contract, store, logger, closeLog, lines: log, limits: config, countWindow: store.countWindow },
      services: made.services ?? (await startServices(service, config.services, { log: logger })),
      clients: new URL('clients/', service.contract),
      ownsStore: made.store === undefined,
      stop: made.stop ?? { isAsked: false },
    });
  return made.store ? serve() : closeIfFailed(store, serve);
}
