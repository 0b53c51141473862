/** Starts metrics and health for operators if they are configured; otherwise loads none of their code. */
import cluster from 'node:cluster';
import { arch, platform } from 'node:process';
import type { Logger } from 'pino';
import type { Contract } from '../../engine/contract/contract.ts';
import type { Counts } from '../../engine/http/log/counts.ts';
import type { Store } from '../../store/store.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import type { OperatorsParts } from '../telemetry/operators.ts';
import type { Reports } from './reports.ts';

export interface Operating {
  counts: Counts;
  /** Does nothing in a worker, which answers the first process instead. */
  listen(): Promise<void>;
}

/** For a process that serves requests; undefined without ADMIN_PORT. */
export async function startOperating(
  config: Config,
  contract: Contract,
  store: Store,
  services: object,
  stop: { isAsked: boolean },
  logger: Logger,
): Promise<Operating | undefined> {
  if (config.adminPort === undefined) return undefined;
  const { buildCounts } = await import('../../engine/http/log/counts.ts');
  const { buildIsReady } = await import('../../engine/http/health.ts');
  const { buildMetrics } = await import('../telemetry/metrics.ts');
  const { operations, prefix } = contract;
  const counts = buildCounts((id) => `${prefix}${operations.get(id)?.path}`);
  const deprecated = [...operations.values()].filter(({ deprecation }) => deprecation);
  const metrics = buildMetrics({
    counts,
    stored: store.counts,
    deprecated: new Set(deprecated.map(({ path }) => `${prefix}${path}`)),
  });
  const isAble = buildIsReady(store, services, logger);
  const isReady = async () => !stop.isAsked && (await isAble()) && !stop.isAsked;
  if (cluster.isWorker) {
    const { answerReports } = await import('./reports.ts');
    answerReports({ isReady, read: metrics.read });
    return { counts, listen: async () => {} };
  }
  const readCommon = await buildReadCommon(config, contract);
  const parts = { isReady, read: async () => [await readCommon(), await metrics.read()] };
  return { counts, listen: () => listen(config, parts, logger) };
}

/** For a first process that only starts workers: it listens at once, and answers for all. */
export async function startReports(config: Config, contract: Contract, logger: Logger): Promise<Reports | undefined> {
  if (config.adminPort === undefined) return undefined;
  const { Reports } = await import('./reports.ts');
  const reports = new Reports(await buildReadCommon(config, contract));
  await listen(config, reports, logger);
  return reports;
}

async function buildReadCommon({ database }: Config, contract: Contract): Promise<() => Promise<Snapshot>> {
  const { buildCommonMetrics } = await import('../telemetry/metrics.ts');
  const { version } = (contract.document as { info: { version: string } }).info;
  const build = { node: process.version, platform: `${platform}-${arch}`, contract: version, digest: contract.digest };
  return buildCommonMetrics(build, database.kind === 'sqlite' ? database.file : undefined).read;
}

async function listen({ adminHost, adminPort }: Config, parts: OperatorsParts, logger: Logger): Promise<void> {
  const { listenForOperators } = await import('../telemetry/operators.ts');
  try {
    const admin = await listenForOperators(parts, adminHost, adminPort as number);
    logger.info({ admin }, 'listening for operators');
  } catch (error) {
    throw new ConfigError(`Cannot listen: ${(error as Error).message}. Set ADMIN_HOST or ADMIN_PORT to another.`);
  }
}
