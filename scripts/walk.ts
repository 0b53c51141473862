/**
 * `npm run walk` shows which of our functions, in which files, a get, a list and a create run when the server is warm, by V8's coverage,
 * without those of the writing thread. `src/README.md` says the same in words.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from './free-port.ts';

const ROOT = new URL('..', import.meta.url).href;
const OURS = new RegExp(`^${ROOT}(?:src|handlers)/`);
const KEY = 'key-of-the-walk-0123456789';
const BODY = '{"name": "Rex", "categoryId": 9223372036854775807, "status": "available"}';
const REQUESTS: [name: string, method: string, path: string][] = [
  ['create', 'POST', '/v1/pets'],
  ['get', 'GET', '/v1/pets/1'],
  ['list', 'GET', '/v1/pets?limit=20&status=available'],
];

/** How many requests come before the one that counts, so that code is compiled and caches are filled. */
const WARMING = 30;

/** A walk: the names of functions by file. */
type Walk = Map<string, string[]>;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

async function send(port: number, method: string, path: string): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, ...(method === 'POST' && { 'content-type': 'application/json' }) };
  const sent = request({ host: '127.0.0.1', port, method, path, agent, headers });
  sent.end(method === 'POST' ? BODY : undefined);
  const [response] = await once(sent, 'response');
  await once(response.resume(), 'end');
  if (response.statusCode >= 300) throw new Error(`${method} ${path} was answered ${response.statusCode}.`);
  // The request's line of the log comes after its answer, and counts, too.
  await new Promise((resolve) => setTimeout(resolve, 20));
}

async function startServer(): Promise<number> {
  const port = await findFreePort();
  Object.assign(process.env, { PORT: String(port), DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY });
  await import('../src/main.ts');
  for (;;) {
    const isListening = await send(port, 'GET', '/readyz').then(
      () => true,
      () => false,
    );
    if (isListening) return port;
  }
}

/** Runs the server in this process, since V8 counts for its own process. */
async function measure(): Promise<[name: string, walk: [string, string[]][]][]> {
  const port = await startServer();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const walks: [string, [string, string[]][]][] = [];
  for (const [name, method, path] of REQUESTS) {
    for (let index = 0; index < WARMING; index += 1) await send(port, method, path);
    // Each call resets the counts.
    await session.post('Profiler.takePreciseCoverage');
    await send(port, method, path);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const walk: Walk = new Map();
    for (const { url, functions } of result.filter(({ url }) => OURS.test(url))) {
      const text = readFileSync(new URL(url), 'utf8');
      const lineOf = (offset = 0) => text.slice(0, offset).split('\n').length;
      const run = functions.filter(({ ranges: [whole] }) => whole?.count && whole.startOffset > 0);
      const names = run.map(
        ({ functionName, ranges: [whole] }) => functionName || `line ${lineOf(whole?.startOffset)}`,
      );
      if (names.length > 0) walk.set(url.slice(ROOT.length), names);
    }
    walks.push([name, [...walk].sort()]);
  }
  return walks;
}

if (process.send) {
  process.argv.length = 2;
  process.send(await measure());
} else {
  // Discards the server's log.
  const child = fork(fileURLToPath(import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [walks] = (await once(child, 'message')) as [Awaited<ReturnType<typeof measure>>];
  child.kill('SIGKILL');
  for (const [name, walk] of walks) {
    console.log(`\n${name}: ${walk.flatMap(([, names]) => names).length} functions in ${walk.length} files`);
    for (const [file, names] of walk) console.log(`  ${file}: ${names.join(', ')}`);
  }
}
