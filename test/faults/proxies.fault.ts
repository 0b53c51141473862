import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { findFreePort } from '../../scripts/free-port.ts';
import { type Program, startProgram } from '../program.ts';
import { KEY, type RequestOptions, send } from '../service.ts';
import { addFigures } from './figures.ts';

/** How many clients go away behind each proxy, in each configuration. */
const CLIENTS = 400;

type Proxy = 'nginx' | 'haproxy';

const CONFIGURATIONS = {
  nginx: (folder: string, port: number, target: number) => `
    daemon off; error_log ${folder}/error.log; pid ${folder}/pid;
    events {}
    http {
      access_log off;
      client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
      uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
      client_max_body_size 10m;
      upstream pets { server 127.0.0.1:${target}; keepalive 16; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://pets;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
          proxy_set_header X-Forwarded-Proto https;
          proxy_request_buffering off;
        }
      }
    }`,
  haproxy: (_: string, port: number, target: number) => `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  option abortonclose
frontend pets
  bind 127.0.0.1:${port}
  option forwardfor
  http-request set-header X-Forwarded-Proto https
  default_backend server
backend server
  server one 127.0.0.1:${target}
`,
};

/** Returns when the proxy passes requests on. */
async function startProxy(t: Test, kind: Proxy, port: number, target: number): Promise<void> {
  const folder = t.testdir();
  const file = `${folder}/${kind}.conf`;
  writeFileSync(file, CONFIGURATIONS[kind](folder, port, target));
  const args = kind === 'nginx' ? ['-p', folder, '-c', file] : ['-db', '-f', file];
  const child = spawn(kind, args, { stdio: 'ignore' });
  t.teardown(async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  while (
    !(await send(port, '/livez').then(
      ({ status }) => status === 200,
      () => false,
    ))
  )
    await wait(50);
}

/** A create whose client goes away after so many bytes, or while its pet is being stored. */
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
  'TRUST_PROXY alone': {},
  'traces, no line for each request': { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', LOG_LEVEL: 'warn' },
  'UNAUTHORIZED_RATE, no key': { UNAUTHORIZED_RATE: '100000/s', LOG_LEVEL: 'warn' },
};

const lives = ({ child }: Program) => child.exitCode === null && child.signalCode === null;

for (const kind of ['nginx', 'haproxy'] as const) {
  for (const [name, settings] of Object.entries(SETTINGS)) {
    t.test(`clients that go away behind ${kind} do no harm: ${name}`, async (t) => {
      const [target, port] = [await findFreePort(), await findFreePort()];
      const common = { PORT: String(target), API_KEYS: KEY, DATABASE_URL: `sqlite:${t.testdir()}/pets.db` };
      const env = { ...common, TRUST_PROXY: '127.0.0.0/8', ...settings };
      const server = startProgram(t, 'src/main.ts', { env });
      await startProxy(t, kind, port, target);
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

  t.test(`refused bodies of 3 MB that ${kind} passes on as they come cost no other request its reply`, async (t) => {
    const [target, port] = [await findFreePort(), await findFreePort()];
    const common = { PORT: String(target), API_KEYS: KEY, DATABASE_URL: `sqlite:${t.testdir()}/pets.db` };
    startProgram(t, 'src/main.ts', { env: common });
    await startProxy(t, kind, port, target);
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
  });
}
