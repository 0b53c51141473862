/** Requests that are still being sent while the server stops. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Test } from 'tap';
import { type Server, startServer } from '../../program.ts';
import { KEY } from '../../service.ts';

/**
 * Starts a POST /v1/pets. Resolves when the server has read the head and asked for the body, which the test sends
 * later.
 */
export async function startPost(port: number, body: string): Promise<ClientRequest> {
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    path: '/v1/pets',
    method: 'POST',
    agent: new Agent({ keepAlive: true }),
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  request.flushHeaders();
  await once(request, 'continue');
  return request;
}

export async function replyTo(request: ClientRequest): Promise<{ status: number; connection: string; body: string }> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks = await response.toArray();
  return {
    status: response.statusCode as number,
    connection: response.headers.connection as string,
    body: Buffer.concat(chunks).toString(),
  };
}

/** Resolves when the server accepts no more connections. */
export async function refusesConnections(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (!isOpen) return;
  }
}

export const stop = (server: Server) => {
  server.child.kill('SIGTERM');
  return server.exit;
};

/** Tests that requests in flight are answered after this signal. */
export async function answersInFlight(t: Test, signal: 'SIGTERM' | 'SIGINT'): Promise<void> {
  const folder = t.testdir();
  const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, DRAIN_DELAY: '0', STOP_TIMEOUT: '600000' };
  const server = await startServer(t, { env });
  const body = '{"name":"Rex","categoryId":7}';
  const request = await startPost(server.port, body);
  request.write(body.slice(0, 10));
  server.child.kill(signal);
  await refusesConnections(server.port);
  request.end(body.slice(10));
  t.strictSame(await replyTo(request), {
    status: 201,
    connection: 'close',
    body: '{"id":1,"name":"Rex","categoryId":7}',
  });
  t.equal(await server.exit, 0);
  t.match(server.output.stdout, `"signal":"${signal}","msg":"stopping"`);
  t.strictSame(readdirSync(folder), ['pets.db']);
}
