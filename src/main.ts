/** The process: configuration, contract, store, server, listen; stop on a signal. */
import cluster from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { isValid, makeKey } from './access/api-keys.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { type Contract, ContractError } from './contract/contract.ts';
import { loadContract } from './contract/load-contract.ts';
import { onStopRequested, superviseWorkers } from './process/workers.ts';
import { buildServer } from './server.ts';
import { openStore } from './store/open-store.ts';
import { type Store, StoreError } from './store/store.ts';
import { loadHandlers } from './wiring/operations.ts';

/** What the machine raises at a fault of the program: a listener would only bring the same fault again, for ever. */
const FAULTS: closeWithGrace.Signals[] = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'];

/** How long the store may take to close, in milliseconds: what takes longer is ended by force. */
const STORE_TIMEOUT = 5000;

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const contract = await loadContract();
  const logger = pino({ level: config.logLevel, redact: ['req.headers.authorization', 'headers.authorization'] });
  const store = openStore(config.database);
  try {
    if (config.workers > 1 && cluster.isPrimary) await serveByWorkers(config, contract, store, logger);
    else await serve(config, contract, store, logger);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function serveByWorkers(config: Config, contract: Contract, store: Store, logger: Logger): Promise<void> {
  const oneRunKey = await makeOneRunKey(config, store);
  await store.close();
  superviseWorkers({
    count: config.workers,
    env: oneRunKey ? { API_KEYS: oneRunKey } : {},
    logger,
    deadline: deadlineOf(config),
    onListening: (origin) => oneRunKey && welcome(origin, contract.prefix, oneRunKey),
  });
}

async function serve(config: Config, contract: Contract, store: Store, logger: Logger): Promise<void> {
  const oneRunKey = await makeOneRunKey(config, store);
  let isDraining = false;
  const app = await buildServer({
    contract,
    handlers: await loadHandlers(),
    store,
    apiKeys: oneRunKey ? [oneRunKey] : config.apiKeys,
    logger,
    requestTimeout: config.requestTimeout,
    isDraining: () => isDraining,
  });

  const skip = cluster.isWorker ? [...FAULTS, 'SIGINT' as const, 'SIGTERM' as const] : FAULTS;
  const stopping = closeWithGrace({ delay: deadlineOf(config), logger, skip }, async ({ signal, err }) => {
    if (err) logger.fatal({ err }, 'stopping after an error');
    else logger.info({ signal }, 'stopping');
    isDraining = true;
    await wait(err ? 0 : config.drainDelay);
    const cut = setTimeout(() => app.server.closeAllConnections(), config.stopTimeout);
    await app.close();
    clearTimeout(cut);
    await store.close();
    logger.info('stopped');
  });

  if (cluster.isWorker) onStopRequested(stopping.close);

  const origin = await listen(app, config);
  logger.info({ origin }, 'listening');
  if (oneRunKey) welcome(origin, contract.prefix, oneRunKey);
}

function deadlineOf({ drainDelay, stopTimeout }: Config): number {
  return drainDelay + stopTimeout + STORE_TIMEOUT;
}

/** A key for this run only, where none is configured and this is not production. */
async function makeOneRunKey({ apiKeys, isProduction }: Config, store: Store): Promise<string | undefined> {
  const keys = await store.listKeys();
  if (apiKeys.length > 0 || keys.some((key) => isValid(key, Date.now()))) return undefined;
  if (!isProduction) return makeKey();
  throw new ConfigError(
    'No API key is configured. Make one with `npm run keys -- create <name>`, or set API_KEYS, and start again.',
  );
}

/** Where it listens, as `http://127.0.0.1:3000`. */
async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  await app.ready();
  try {
    return await app.listen({ host, port });
  } catch (error) {
    throw new ConfigError(`Cannot listen: ${(error as Error).message}. Set HOST or PORT to another.`);
  }
}

/** For the person who started it, on standard error: the log never sees a key. */
function welcome(origin: string, prefix: string, key: string): void {
  process.stderr.write(`
No API key is configured. This one is for this run only:

  ${key}

Try it:

  curl -H 'Authorization: Bearer ${key}' ${origin}${prefix}/pets

Documentation, to read and try: ${origin}/docs

`);
}

start().catch((error: unknown) => {
  const isTold = [ConfigError, ContractError, StoreError].some((type) => error instanceof type);
  console.error(isTold ? (error as Error).message : error);
  process.exit(1);
});
