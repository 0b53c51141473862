/**
 * Starts the listener for operators, with metrics and health. The modules of the listener are loaded only if ADMIN_PORT
 * is set. Also notifies systemd.
 */
import { execFile } from 'node:child_process';
import { arch, platform } from 'node:process';
import type { Logger } from 'pino';
import type { Contract } from '../../engine/contract/contract.ts';
import type { Catalogue } from '../../engine/errors/catalogue.ts';
import type { IsReady } from '../../engine/http/health.ts';
import type { Counts } from '../../engine/http/log/request-log.ts';
import type { Store } from '../../store/store.ts';
import { type Config, ConfigError } from '../config.ts';

interface Operating {
  counts: Counts;
  listen(): Promise<void>;
}

/** Prepares the listener for operators. Returns undefined if ADMIN_PORT is not set. */
export async function startOperating(
  { adminHost, adminPort, database }: Config,
  contract: Contract,
  store: Store,
  isAble: IsReady,
  stop: { isAsked: boolean },
  logger: Logger,
  catalogue: Catalogue,
): Promise<Operating | undefined> {
  if (adminPort === undefined) return undefined;
  const { RequestCounts } = await import('../telemetry/request-counts.ts');
  const { buildMetrics } = await import('../telemetry/metrics.ts');
  const { listenForOperators } = await import('../telemetry/operators.ts');
  const { document, digest, operations, prefix } = contract;
  const toPath = (id: string) => `${prefix}${operations.get(id)?.path}`;
  const counts = new RequestCounts(toPath, catalogue);
  const deprecated = [...operations].filter(([, { deprecation }]) => deprecation).map(([id]) => toPath(id));
  const { version } = document.info;
  const metrics = buildMetrics({
    counts,
    stored: store.counts,
    deprecated: new Set(deprecated),
    build: { node: process.version, platform: `${platform}-${arch}`, contract: version, digest },
    databaseFile: database.kind === 'sqlite' ? database.file : undefined,
  });
  const isReady = async () => !stop.isAsked && (await isAble()) && !stop.isAsked;
  async function listen(): Promise<void> {
    try {
      const admin = await listenForOperators({ isReady, metrics }, adminHost, adminPort as number);
      logger.info({ admin }, 'listening for operators');
    } catch (error) {
      throw new ConfigError(`Cannot listen: ${(error as Error).message}. Set ADMIN_HOST or ADMIN_PORT to another.`);
    }
  }
  return { counts, listen };
}

/**
 * Notifies systemd regularly that the event loop runs, if the unit sets `WatchdogSec`. If the notifications stop,
 * systemd kills the server. Calls the program `systemd-notify`, because systemd listens on a datagram socket, which
 * Node does not support.
 */
export function notifySystemd({ WATCHDOG_USEC }: NodeJS.ProcessEnv): NodeJS.Timeout | undefined {
  if (WATCHDOG_USEC === undefined) return undefined;
  const notify = () => execFile('systemd-notify', ['WATCHDOG=1'], () => {});
  return setInterval(notify, Number(WATCHDOG_USEC) / 1000 / 3).unref();
}
