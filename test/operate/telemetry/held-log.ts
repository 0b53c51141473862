/** Requests that fill the log of a server, and a stop of a server whose log nobody reads. */
import { once } from 'node:events';
import { Agent } from 'node:http';
import type { Test } from 'tap';
import type { Server } from '../../program.ts';
import { buildRequest, type SendRequest } from '../../service.ts';

/** Stops the server. Resolves with the exit code, even if its output is never read to the end. */
export async function stop({ child }: Pick<Server, 'child'>): Promise<number> {
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  return code;
}

/** Returns a function that sends requests one after the other on one connection. */
export function requestOn(t: Test, port: number): SendRequest {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  return buildRequest(port, undefined, agent);
}

/**
 * Sends requests with long URLs. Each one makes a log line of some 1,200 characters, because the log cuts longer URLs.
 */
export async function requestLongUrls(request: SendRequest, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    const { status } = await request(`/livez?${sent}=${'x'.repeat(1200)}`);
    if (status !== 200) throw new Error(`${status}`);
  }
}
