/** Starts the built service like an operator, creates, gets and lists a pet, and stops it: `npm run smoke`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const API_KEYS = 'key-of-the-smoke-test';
const headers = { authorization: `Bearer ${API_KEYS}`, 'content-type': 'application/json' };
const body = '{"name": "Rex", "categoryId": 9223372036854775807, "status": "available"}';
const REQUESTS: [status: number, path: string, init?: RequestInit][] = [
  [201, '/v1/pets', { method: 'POST', headers, body }],
  [200, '/v1/pets/1', { headers }],
  [200, '/v1/pets', { headers }],
  [401, '/v1/pets'],
  [200, '/openapi.yaml'],
  [200, '/docs/'],
];

const env = { ...process.env, NODE_ENV: 'production', PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS };
const server = spawn(process.execPath, ['dist/src/main.js'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
process.once('exit', () => server.kill());
for await (const line of createInterface({ input: server.stdout })) {
  const { msg, origin } = JSON.parse(line);
  if (msg !== 'listening') continue;
  for (const [status, path, init] of REQUESTS) {
    const reply = await fetch(origin + path, init);
    console.log(`${init?.method ?? 'GET'} ${path} -> ${reply.status} ${(await reply.text()).slice(0, 80)}`);
    if (reply.status !== status) process.exitCode = 1;
  }
  server.kill('SIGTERM');
}
if (server.exitCode === null) await once(server, 'exit');
if (server.exitCode !== 0 || process.exitCode) throw new Error(`It failed, and ended with ${server.exitCode}.`);
console.log('The built service starts, answers and stops.');
