/** Proxies of others in front of two servers, which serve them below `/petstore/` and try the other one when one is not there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { findFreePort } from '../../scripts/free-port.ts';

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
export const PROXIES: Record<string, [toFile: ToFile, command: string, ...parts: string[]]> = {
  nginx: [nginx, 'nginx', '-e', 'stderr', '-c'],
  haproxy: [haproxy, 'haproxy', '-q', '-db', '-f'],
};

/** The port of a proxy that listens, for these servers; its files are in the folder. */
export async function startProxy(t: Test, name: string, servers: number[], folder: string): Promise<number> {
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
