/** The command `sandbox FILE`: serves any contract from memory, and starts again after each change of the file. */
import { watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Contract } from '../../engine/contract/contract.ts';
import { type FirstRequest, toFirstCurl } from '../../engine/contract/first-request.ts';
import { listen } from '../../engine/http/connections/listening.ts';
import type { AnyHandler } from '../../engine/routes/handler.ts';
import { toPrintable, toPrintableLines } from '../../json/literals.ts';
import { makeKey } from '../../store/api-keys.ts';
import { withProgress } from '../progress.ts';
import { ProjectError } from '../project.js';
import type { WrittenCollection } from '../scaffold/collection-files.ts';
import { buildSandboxServer, findFirstRequest, type SandboxParts } from './first-request.ts';
import { loadAny, withoutKeys } from './load.ts';
import { withStored } from './stored-handlers.ts';
import { tryStored } from './trial.ts';

export interface SandboxOptions {
  /** The port of the option `--port`. Undefined for 3000, or any free port if 3000 is taken. */
  port: number | undefined;
  /** True if clients need the keys that the contract requires. */
  hasKeys: boolean;
}

interface Served {
  app: FastifyInstance;
  /** The lines that the sandbox prints about the contract. The lines with its address follow. */
  about: string[];
  /** A request that the server accepts, to be printed. Undefined if it accepts none of the tried requests. */
  request: FirstRequest | undefined;
}

/** The API key, which is made once, so that it stays valid when the file changes. */
const KEY = makeKey('sandbox');
const HOST = '127.0.0.1';
const USUAL_PORT = 3000;

/**
 * Loads the contract and builds the server, which does not listen yet.
 * @throws ProjectError if the contract cannot be served
 */
async function prepare(source: string, { hasKeys }: SandboxOptions): Promise<Served> {
  const loaded = await loadAny(source);
  const { toErrorBody, notes, collections } = loaded;
  const contract = hasKeys ? loaded.contract : withoutKeys(loaded.contract);
  const { app, stored, request } = await withStored(collections, async ({ domain, handlers }) => {
    const parts = { toErrorBody, domain, key: KEY };
    const { working, request } = await findWorking(contract, collections, { ...parts, stored: handlers });
    const app = await buildSandboxServer(contract, { ...parts, stored: working, logLevel: 'error' });
    return { app, request, stored: Object.keys(working).length };
  });
  const about = [...notes.map((note) => `note: ${note}`), toCounts(contract, stored)];
  return { app, about: about.map(toPrintable), request };
}

function toCounts({ title, operations: { size } }: Contract, stored: number): string {
  const counted = `${title}: ${size} operation${size === 1 ? '' : 's'}`;
  if (stored === size) return `${counted}, all stored in memory.`;
  return `${counted}, ${stored > 0 ? `${stored} stored in memory, the others` : 'each'} answered with the contract's example.`;
}

/**
 * Tries each stored operation on a temporary database. Returns the handlers that did not fail, and a request to print.
 */
async function findWorking(
  contract: Contract,
  collections: WrittenCollection[],
  parts: Omit<SandboxParts, 'logLevel'> & Pick<Required<SandboxParts>, 'stored'>,
): Promise<{ working: Record<string, AnyHandler>; request: FirstRequest | undefined }> {
  const app = await buildSandboxServer(contract, { ...parts, logLevel: 'silent' });
  try {
    const { failures, request = await findFirstRequest(app, contract, KEY) } = await tryStored(
      app,
      contract,
      KEY,
      collections,
    );
    const working = Object.fromEntries(Object.entries(parts.stored).filter(([id]) => !failures.has(id)));
    return { working, request };
  } finally {
    await app.close();
  }
}

type Say = (text: string) => void;

/** Starts to listen, and prints a first request. Returns the origin. */
async function serve({ app, about, request }: Served, port: number | undefined, say: Say): Promise<string> {
  const origin = await listenAt(app, port);
  say(about.join('\n'));
  if (request) say(toPrintableLines(`\nTry it:\n\n  ${toFirstCurl(request, origin, KEY)}`));
  say(`\nDocumentation, to read and try: ${origin}/docs`);
  return origin;
}

async function listenAt(app: FastifyInstance, port: number | undefined): Promise<string> {
  try {
    return await listen(app, { host: HOST, port: port ?? USUAL_PORT, socket: undefined });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (port === undefined && code === 'EADDRINUSE') return listen(app, { host: HOST, port: 0, socket: undefined });
    await app.close();
    throw new ProjectError(`The sandbox cannot listen: ${message}. Give it another --port.`);
  }
}

export interface Sandbox {
  origin: string;
  close: () => Promise<void>;
}

/**
 * Starts the sandbox, which serves until `close` is called. Calls `say` with the texts to print.
 * @throws ProjectError if the contract cannot be served, or if the port is taken
 */
export async function openSandbox(source: string, options: SandboxOptions, say: Say = console.log): Promise<Sandbox> {
  let served = await prepare(source, options);
  const origin = await serve(served, options.port, say);
  const close = () => served.app.close();
  if (/^https?:/.test(source)) return { origin, close };
  say(toPrintable(`Each change of ${source} starts it again; Ctrl+C ends it, and leaves nothing behind.`));
  const restart = async () => {
    const next = await prepare(source, options);
    await served.app.close();
    served = next;
    await serve(served, Number(new URL(origin).port), say);
  };
  const stopWatching = watchFile(source, async () => {
    await restart().catch(({ message }: Error) => say(toPrintableLines(`${message}\nThe last contract is served on.`)));
  });
  return {
    origin,
    close: async () => {
      await stopWatching();
      await close();
    },
  };
}

/**
 * Runs the command: serves until SIGINT (Ctrl+C) or SIGTERM.
 * @throws ProjectError as `openSandbox` does, and if `--port` is not a valid port
 */
export async function runSandbox(source: string, values: { port?: unknown; keys?: unknown }): Promise<void> {
  let end: () => unknown = () => process.exit(1);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end());
  const options = toSandboxOptions(values);
  const { close } = await withProgress('The contract is read', () => openSandbox(source, options));
  end = close;
}

/** The time to wait for further changes after a change of the file, in milliseconds. */
const TOGETHER = 50;

/**
 * Calls `run` after each change of the file, one call at a time. Watches the folder, because an editor may replace the
 * file. Returns a function that stops watching, and that waits for a call that is still running.
 */
function watchFile(file: string, run: () => Promise<void>): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const watcher = watch(dirname(resolve(file)), (_event, name) => {
    if (name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(run);
    }, TOGETHER);
  });
  return async () => {
    watcher.close();
    clearTimeout(timer);
    await running;
  };
}

/**
 * Reads the options of the command.
 * @throws ProjectError if `--port` is not a valid port
 */
export function toSandboxOptions({ port: text, keys }: { port?: unknown; keys?: unknown }): SandboxOptions {
  const port = text === undefined ? undefined : Number(text);
  if (port !== undefined && (!/^\d+$/.test(String(text)) || port > 65535))
    throw new ProjectError(`--port ${toPrintable(String(text))}: a port is a number from 0 to 65535.`);
  return { port, hasKeys: keys === true };
}
