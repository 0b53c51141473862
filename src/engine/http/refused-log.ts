/** Requests beyond a limit, in the log: a flood of them writes a line a second for each caller, not one for each request. */
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { toClientAddress } from './client-address.ts';

/** How long the requests of one caller are counted before they are told, in milliseconds. */
const INTERVAL = 1000;

interface Refused {
  /** The fields of the line that say whose requests they are. */
  who: object;
  count: number;
}

export interface RefusedLog {
  /** True where the request is only counted: its caller had a line a moment ago. */
  counts(request: FastifyRequest): boolean;
  /** Writes what is counted. */
  end(): void;
}

export function buildRefusedLog(logger: Logger): RefusedLog {
  const callers = new Map<string, Refused>();

  function end(): void {
    for (const { who, count } of callers.values()) {
      if (count > 0) logger.info({ ...who, count }, 'more requests beyond a limit');
    }
    callers.clear();
  }

  return {
    counts: (request) => {
      const { caller } = request;
      const ip = toClientAddress(request);
      const id = caller?.id ?? String(ip);
      const known = callers.get(id);
      if (known) {
        known.count++;
        return true;
      }
      if (callers.size === 0) setTimeout(end, INTERVAL).unref();
      callers.set(id, { who: caller ? { keyId: caller.id, keyName: caller.name } : { ip }, count: 0 });
      return false;
    },
    end,
  };
}
