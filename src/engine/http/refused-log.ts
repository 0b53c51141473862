/** Logs refused requests: a flood writes a few lines a second for each caller, not one for each request. */
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { toClientAddress } from './client-address.ts';

/** How long the requests of one caller are counted before their count is logged, in milliseconds. */
const INTERVAL = 1000;

/** RFC 6585, section 4. */
const TOO_MANY_REQUESTS = 429;

/** How many lines are written in that time: for requests over a rate limit, and for others that are refused without a key. */
const LINES = { limited: 1, keyless: 10 };

const MESSAGES = { limited: 'more requests beyond a limit', keyless: 'more refused requests' };

interface Refused {
  /** The fields of the line that name the caller. */
  who: object;
  kind: keyof typeof LINES;
  count: number;
}

export interface RefusedLog {
  /** True if the refused or failed request is only counted: its caller has used up its lines. */
  counts(request: FastifyRequest, status: number): boolean;
  /** Logs the counts, and starts anew. */
  end(): void;
}

export function buildRefusedLog(logger: Logger): RefusedLog {
  const callers = new Map<string, Refused>();

  function end(): void {
    for (const { who, kind, count } of callers.values()) {
      if (count > LINES[kind]) logger.info({ ...who, count: count - LINES[kind] }, MESSAGES[kind]);
    }
    callers.clear();
  }

  return {
    counts: (request, status) => {
      const { caller } = request;
      const kind = status === TOO_MANY_REQUESTS ? 'limited' : 'keyless';
      if (kind === 'keyless' && (caller || status >= 500)) return false;
      const ip = toClientAddress(request);
      const id = `${kind} ${caller?.counted ?? ip}`;
      const known = callers.get(id) ?? {
        who: caller ? JSON.parse(`{${caller.logged.slice(0, -1)}}`) : { ip },
        kind,
        count: 0,
      };
      if (callers.size === 0) setTimeout(end, INTERVAL).unref();
      callers.set(id, known);
      return ++known.count > LINES[kind];
    },
    end,
  };
}
