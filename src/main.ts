/** The process: configuration, store, server, listen; stop on a signal. */
import type { AddressInfo } from 'node:net';
import closeWithGrace from 'close-with-grace';
import { pino } from 'pino';
import { isValid, makeKey } from './api-keys.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { ContractError, loadContract } from './contract.ts';
import { loadHandlers } from './operations.ts';
import { buildServer } from './server.ts';
import { openStore } from './store/open-store.ts';
import type { Store } from './store/store.ts';

/** How long a stop may take beyond the drain delay before it is forced, in milliseconds. */
const STOP_DEADLINE = 10_000;

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const contract = await loadContract();
  const logger = pino({ level: config.logLevel, redact: ['req.headers.authorization', 'headers.authorization'] });
  const store = openStore(config.databaseUrl);
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

  closeWithGrace({ delay: STOP_DEADLINE + config.drainDelay, logger }, async ({ signal, err }) => {
    if (err) logger.fatal({ err }, 'stopping after an error');
    else logger.info({ signal }, 'stopping');
    isDraining = true;
    await new Promise((resolve) => setTimeout(resolve, err ? 0 : config.drainDelay));
    await app.close();
    await store.close();
    logger.info('stopped');
  });

  await app.listen({ host: config.host, port: config.port });
  logger.info({ address: app.server.address() }, 'listening');
  const { address, family, port } = app.server.address() as AddressInfo;
  const origin = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  if (oneRunKey) welcome(origin, contract.prefix, oneRunKey);
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
  const isOurs = error instanceof ConfigError || error instanceof ContractError;
  console.error(isOurs ? error.message : error);
  process.exit(1);
});
