/**
 * Tests real proxies in front of the server: clients that disconnect, large bodies, and a path prefix that the proxy
 * strips.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { findFreePort } from '../../scripts/free-port.ts';
import { type Program, type Server, startProgram, startServer } from '../program.ts';
import { KEY, type RequestOptions, send } from '../service.ts';
import { addFigures } from './figures.ts';

/** How many clients disconnect in each configuration of each proxy. */
const CLIENTS = 400;

const PROXIES = ['nginx', 'haproxy'] as const;
type Proxy = (typeof PROXIES)[number];

/**
 * A proxy passes requests to one server, or to two servers without the path prefix. It asks two servers in turn, and
 * asks the other if one has stopped.
 */
const CONFIGURATIONS: Record<Proxy, (folder: string, port: number, targets: number[], path: string) => string> = {
  nginx: (folder, port, targets, path) => `
daemon off; error_log ${folder}/error.log; pid ${folder}/pid;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  client_max_body_size 10m;
  upstream pets { ${targets.map((target) => `server 127.0.0.1:${target} max_fails=0;`).join(' ')} keepalive 16; }
  server {
    listen 127.0.0.1:${port};
    location ${path}/ {
      proxy_pass http://pets${path && '/'};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      ${
        path
          ? 'proxy_next_upstream error timeout http_503 non_idempotent;'
          : `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto https;
      proxy_request_buffering off;`
      }
    }
  }
}
`,
  haproxy: (_, port, targets, path) => `
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  ${path ? 'retries 4\n  option redispatch 1\n  retry-on conn-failure empty-response response-timeout 503' : 'option abortonclose'}
frontend public
  bind 127.0.0.1:${port}
  ${path ? `http-request replace-path ${path}/(.*) /\\1` : 'option forwardfor\n  http-request set-header X-Forwarded-Proto https'}
  default_backend pets
backend pets
  ${path && 'http-reuse safe\n  option httpchk GET /readyz\n  default-server check inter 100ms rise 1 fall 1'}
${targets.map((target, index) => `  server s${index} 127.0.0.1:${target}`).join('\n')}
`,
};

/** Starts a proxy to these servers, and returns its port. */
async function startProxy(t: Test, kind: Proxy, folder: string, targets: number[], path = ''): Promise<number> {
  const port = await findFreePort();
  const file = `${folder}/${kind}.conf`;
  writeFileSync(file, CONFIGURATIONS[kind](folder, port, targets, path));
  const args = kind === 'nginx' ? ['-p', folder, '-c', file] : ['-db', '-f', file];
  const child = spawn(kind, args, { stdio: 'ignore' });
  t.teardown(async () => {
    // At SIGTERM nginx also stops its worker process.
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const passes = () =>
    send(port, `${path}/livez`)
      .then(({ status }) => status === 200)
      .catch(() => false);
  while (!(await passes())) await wait(50);
  return port;
}

/** Sends the request of a create, but disconnects after a part of it, or while the pet is being stored. */
async function goAway(port: number, key: string, index: number): Promise<void> {
  const body = JSON.stringify({ name: 'Rex', categoryId: index });
  const head = `POST /v1/pets HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const isWhole = index % 2 === 0;
  socket.write(isWhole ? head + body : head + body.slice(0, index % body.length));
  await wait(index % 5);
  socket.resetAndDestroy();
}

const SETTINGS: Record<string, Record<string, string>> = {
  'with TRUST_PROXY only': {},
  'with traces and without request lines in the log': {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    LOG_LEVEL: 'warn',
  },
  'with UNAUTHORIZED_RATE and without a key': { UNAUTHORIZED_RATE: '100000/s', LOG_LEVEL: 'warn' },
};

const lives = ({ child }: Program) => child.exitCode === null && child.signalCode === null;

for (const kind of PROXIES) {
  for (const [name, settings] of Object.entries(SETTINGS)) {
    t.test(`the server survives clients of ${kind} that disconnect, ${name}`, async (t) => {
      const target = await findFreePort();
      const folder = t.testdir();
      const common = { PORT: String(target), API_KEYS: KEY, DATABASE_URL: `sqlite:${folder}/pets.db` };
      const env = { ...common, TRUST_PROXY: '127.0.0.0/8', ...settings };
      const server = startProgram(t, 'src/main.ts', { env });
      const port = await startProxy(t, kind, folder, [target]);
      const key = name.includes('no key') ? 'wrong' : KEY;
      for (let count = 0; count < CLIENTS; count += 20)
        await Promise.all(Array.from({ length: 20 }, (_, index) => goAway(port, key, count + index)));
      await wait(500);
      t.ok(lives(server), server.output.stdout.slice(-500));
      t.notMatch(server.output.stdout, /"level":(50|60)/);
      t.equal((await send(port, '/v1/pets')).status, 200);
      addFigures(`clients gone behind ${kind}, ${name}`, `${CLIENTS}, the server lives`);
    });
  }

  t.test(
    `while clients send rejected bodies of 3 MB through ${kind}, every other request gets its reply`,
    async (t) => {
      const target = await findFreePort();
      const folder = t.testdir();
      const common = { PORT: String(target), API_KEYS: KEY, DATABASE_URL: `sqlite:${folder}/pets.db` };
      startProgram(t, 'src/main.ts', { env: common });
      const port = await startProxy(t, kind, folder, [target]);
      const large = 'x'.repeat(3_000_000);
      const create = { method: 'POST', body: { name: 'Rex', categoryId: 1 } };
      const chunked = { 'transfer-encoding': 'chunked' };
      const kinds: [url: string, options: RequestOptions][] = [
        ['/v1/pets', create],
        ['/v1/pets', {}],
        ['/v1/pets', { method: 'POST', body: large }],
        ['/v1/pets', create],
        ['/v1/pets', { method: 'POST', body: large, key: null, headers: chunked }],
        ['/v1/none', { method: 'POST', body: large, headers: chunked }],
      ];
      const tally: Record<string, number> = {};
      async function work(index: number): Promise<void> {
        for (let count = index; count < 600; count += 20) {
          const [url, options] = kinds[count % kinds.length] as (typeof kinds)[number];
          const status = await send(port, url, options).then(
            ({ status }) => status,
            (error: NodeJS.ErrnoException) => error.code,
          );
          const kind = `${count % kinds.length}: ${status}`;
          tally[kind] = (tally[kind] ?? 0) + 1;
        }
      }
      await Promise.all(Array.from({ length: 20 }, (_, index) => work(index)));
      t.strictSame(tally, { '0: 201': 100, '1: 200': 100, '2: 413': 100, '3: 201': 100, '4: 401': 100, '5: 404': 100 });
      addFigures(`600 requests through ${kind}, half of them with a refused body of 3 MB`, 'each has its reply');
    },
  );
}

const RESTARTS = 6;

/** Starts two servers on one database. Each has its port, and both know the public URL. */
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
  /** Restarts one server; the tests restart one after the other. */
  const restart = async (index: number) => {
    const server = servers[index] as Server;
    server.child.kill('SIGTERM');
    t.equal(await server.exit, 0);
    servers[index] = await start(server.port);
    // The proxy must notice that this server is ready again before the next one stops.
    await wait(500);
  };
  return { ports, restart };
}

for (const name of PROXIES) {
  t.test(
    `behind ${name}, which strips a path prefix, every URL of the server works, even while a server restarts`,
    async (t) => {
      const folder = t.testdir();
      const { ports, restart } = await startTwo(t, folder);
      const port = await startProxy(t, name, folder, ports, '/petstore');
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
      const clients = Array.from({ length: 8 }, async (_, client) => {
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
