/** Finds a port of the loopback address that is free now. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Finds a free port outside of the range that the system uses for outgoing connections. So the port stays free until a
 * program listens on it, and also while that program is restarted.
 */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(randomInt(10_000, 32_000), '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return findFreePort();
  }
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
