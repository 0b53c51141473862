/** Starts the built service as an operator would, sends it one request of each kind, and stops it: `npm run smoke`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const KEY = 'key-of-the-smoke-test';
const server = spawn(process.execPath, ['dist/src/main.js'], {
  env: { ...process.env, NODE_ENV: 'production', PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY },
  stdio: ['ignore', 'pipe', 'inherit'],
});

/** The origin, from the line in which the log says where the server listens. */
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

try {
  const origin = await originOf();
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const body = '{"name":"Rex","categoryId":9223372036854775807}';
  await expect(201, `${origin}/v1/pets`, { method: 'POST', headers, body });
  await expect(200, `${origin}/v1/pets`, { headers });
  await expect(200, `${origin}/v1/pets/1`, { headers });
  await expect(401, `${origin}/v1/pets`);
  await expect(200, `${origin}/openapi.yaml`);
  await expect(200, `${origin}/docs/`);
} finally {
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'exit');
}
if (server.exitCode !== 0) throw new Error(`the server ended with ${server.exitCode ?? server.signalCode}`);
console.log('The built service starts, answers and stops.');
