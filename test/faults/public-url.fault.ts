import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { findFreePort } from '../../scripts/free-port.ts';
import { type Server, startServer } from '../program.ts';
import { send } from '../service.ts';
import { addFigures } from './figures.ts';

type ToFile = (port: number, servers: number[], folder: string) => string;

const nginx: ToFile = (port, servers, folder) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path ${folder};
  proxy_temp_path ${folder};
  fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder};
  scgi_temp_path ${folder};
  upstream petstore {
    ${servers.map((server) => `server 127.0.0.1:${server} max_fails=0;`).join('\n    ')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location /petstore/ {
      proxy_pass http://petstore/;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_next_upstream error timeout http_503 non_idempotent;
    }
  }
}
`;

const haproxy: ToFile = (port, servers) => `
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  retries 4
  option redispatch 1
  retry-on conn-failure empty-response response-timeout 503
frontend public
  bind 127.0.0.1:${port}
  http-request replace-path /petstore/(.*) /\\1
  default_backend petstore
backend petstore
  http-reuse safe
  option httpchk GET /readyz
  default-server check inter 100ms rise 1 fall 1
${servers.map((server, index) => `  server s${index} 127.0.0.1:${server}`).join('\n')}
`;

/** How each is started with its file. */
const PROXIES: Record<string, [toFile: ToFile, command: string, ...parts: string[]]> = {
  nginx: [nginx, 'nginx', '-e', 'stderr', '-c'],
  haproxy: [haproxy, 'haproxy', '-q', '-db', '-f'],
};

/** The port of a proxy that listens, for these servers; its files are in the folder. */
async function startProxy(t: Test, name: string, servers: number[], folder: string): Promise<number> {
  const [toFile, command, ...parts] = PROXIES[name] as (typeof PROXIES)[string];
  const port = await findFreePort();
  writeFileSync(`${folder}/proxy.conf`, toFile(port, servers, folder));
  const child = spawn(command, [...parts, `${folder}/proxy.conf`], { stdio: ['ignore', 'inherit', 'inherit'] });
  t.teardown(async () => {
    // So that nginx ends its worker, too.
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'close');
  });
  while (!(await listens(port))) await wait(50);
  return port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

const CLIENTS = 8;
const RESTARTS = 6;

/** Two servers on one database, each on its port, which know the URL that clients call. */
async function startTwo(t: Test, folder: string) {
  const databaseUrl = `sqlite:${folder}/pets.db`;
  const ports = [await findFreePort(), await findFreePort()];
  const start = (port: number) =>
    startServer(t, {
      env: {
        PORT: String(port),
        DATABASE_URL: databaseUrl,
        PUBLIC_URL: 'https://shop.example/petstore',
        DRAIN_DELAY: '1000',
      },
    });
  const servers: Server[] = [];
  for (const port of ports) servers.push(await start(port));
  /** One after the other. */
  const restart = async (index: number) => {
    const server = servers[index] as Server;
    server.child.kill('SIGTERM');
    t.equal(await server.exit, 0);
    servers[index] = await start(server.port);
    // Before the next one goes, the proxy must have seen that this one is ready again.
    await wait(500);
  };
  return { ports, restart };
}

for (const name of Object.keys(PROXIES)) {
  t.test(
    `below a path that ${name} strips, every URL that the server gives leads to it, also while it restarts`,
    async (t) => {
      const folder = t.testdir();
      const { ports, restart } = await startTwo(t, folder);
      const port = await startProxy(t, name, ports, folder);
      const origin = `http://127.0.0.1:${port}`;
      const front = await send(port, '/petstore/', { headers: { accept: 'text/html' } });
      t.equal(new URL(front.headers.location as string, `${origin}/petstore/`).pathname, '/petstore/docs');
      const page = await send(port, '/petstore/docs');
      const files = [...page.text.matchAll(/(?:src|href)="(\.[^"]+)"/g)].map(([, url]) => url as string);
      t.ok(files.length > 5);
      for (const file of files)
        t.equal((await send(port, new URL(file, `${origin}/petstore/docs`).pathname)).status, 200, file);
      const { servers } = JSON.parse((await send(port, '/petstore/openapi.json')).text);
      t.equal(servers[0].url, '/petstore/v1');

      let isOver = false;
      let answered = 0;
      const failed: string[] = [];
      const clients = Array.from({ length: CLIENTS }, async (_, client) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const ask = async (...[url, options]: [string, object?]) => {
          const { status, headers } = await send(port, url, options, agent);
          answered++;
          if (status > 201) failed.push(`${status} ${url}`);
          return headers;
        };
        for (let count = 0; !isOver; count++) {
          const body = { name: 'Rex', categoryId: 7 };
          const once = { 'idempotency-key': `${client}-${count}` };
          const { location = '/' } = await ask('/petstore/v1/pets', { method: 'POST', body, headers: once });
          await ask(location);
          const { link = '' } = await ask('/petstore/v1/pets?limit=1');
          const next = /<(.*)>; rel="next"/.exec(link)?.[1];
          if (next) await ask(next);
        }
        agent.destroy();
      });
      await wait(500);
      for (let count = 0; count < RESTARTS; count++) await restart(count % 2);
      isOver = true;
      const outcomes = await Promise.allSettled(clients);
      for (const outcome of outcomes) if (outcome.status === 'rejected') failed.push(String(outcome.reason));
      addFigures(`${name}, ${RESTARTS} restarts`, `${failed.length} failed of ${answered} requests`);
      t.strictSame(failed, []);
    },
  );
}
