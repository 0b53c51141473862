/** Counts of requests and connections, for metrics: plain numbers, which cost a request next to nothing and are read on demand. */
import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../errors.ts';

export class Counts {
  inFlight = 0;
  connections = 0;
  /** When the stored API keys were last read, in seconds since 1970. */
  keysReadAt = 0;
  /** Requests that were refused before their operation was known. */
  readonly refused = new Map<ErrorCode, number>();
  /** Connections that the server closed: over the limit, idle when others needed room, or with replies that the client does not read. */
  readonly dropped = { full: 0, idle: 0, unread: 0 };

  refuse(code: ErrorCode): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
  }

  /** Counts a finished request; `status` is undefined where its client had disconnected. */
  end(_request: FastifyRequest, _status: number | undefined, _ms: number): void {
    this.inFlight--;
  }
}
