/** Starts the built service as an operator would, sends it a request of each operation, and stops it: `npm run smoke`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { loadContract } from '../src/contract-first/contract/read/load-contract.ts';
import type { ReadContract } from '../src/contract-first/engine/contract/contract.ts';
import type { MediaNode, ParameterNode } from '../src/contract-first/engine/contract/document.ts';
import { toJsonText } from '../src/contract-first/store/table.ts';

const KEY = 'key-of-the-smoke-test';
const server = spawn(process.execPath, ['dist/src/main.js'], {
  env: { ...process.env, NODE_ENV: 'production', PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY },
  stdio: ['ignore', 'pipe', 'inherit'],
});

/** The origin, from the server's line in the log. */
async function originOf(): Promise<string> {
  for await (const line of createInterface({ input: server.stdout })) {
    const { msg, origin } = JSON.parse(line);
    if (msg === 'listening') return origin;
  }
  throw new Error('the server ended before it listened');
}

async function expect(status: number, url: string, init?: RequestInit): Promise<void> {
  const reply = await fetch(url, init);
  console.log(
    `${init?.method ?? 'GET'} ${new URL(url).pathname} -> ${reply.status} ${(await reply.text()).slice(0, 80)}`,
  );
  if (reply.status !== status) throw new Error(`expected ${status}`);
}

/** Operations that create come first, so that the others find their records. */
const METHODS = ['post', 'get', 'put', 'patch', 'delete'] as const;

interface SmokeRequest {
  status: number;
  path: string;
  method: string;
  body?: string;
}

const exampleIn = ({ example, examples = {} }: Pick<MediaNode, 'example' | 'examples'>): unknown =>
  example ?? Object.values(examples)[0]?.value;

/** A request for each operation, from the contract's examples, which must have the id of the first record, and its declared success. */
function toRequests({ resolved, prefix }: ReadContract): SmokeRequest[] {
  return METHODS.flatMap((method) =>
    Object.entries(resolved.paths).flatMap(([template, item]) => {
      const operation = item[method];
      if (!operation) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      const path = template.replace(/\{(.*?)\}/g, (_, name) =>
        encodeURIComponent(
          String(exampleIn(parameters.find((one) => one.in === 'path' && one.name === name) as ParameterNode)),
        ),
      );
      const media = operation.requestBody?.content['application/json'];
      const status = Number(Object.keys(operation.responses ?? {}).find((name) => name.startsWith('2')));
      const request = { status, path: prefix + path, method: method.toUpperCase() };
      return [media ? { ...request, body: toJsonText(exampleIn(media)) } : request];
    }),
  );
}

try {
  const origin = await originOf();
  const requests = toRequests(await loadContract(new URL('../openapi/petstore.yaml', import.meta.url)));
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  for (const { status, path, ...init } of requests) await expect(status, origin + path, { ...init, headers });
  for (const { path, method } of requests.slice(0, 1)) await expect(401, origin + path, { method });
  await expect(200, `${origin}/openapi.yaml`);
  await expect(200, `${origin}/docs/`);
} finally {
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'exit');
}
if (server.exitCode !== 0) throw new Error(`the server ended with ${server.exitCode ?? server.signalCode}`);
console.log('The built service starts, answers and stops.');
