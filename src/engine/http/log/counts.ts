/**
 * Counts of requests and connections, for metrics: plain numbers, which cost a request next to nothing and are read on demand.
 * All labels come from the contract and the catalogue of errors, so no client can add one.
 */
import type { FastifyRequest } from 'fastify';
import { Distribution, SECONDS } from '../../../distribution.ts';
import { CODES, type ErrorCode, kindOf } from '../../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The code with which the server itself refused the request. */
    errorCode: ErrorCode | undefined;
  }
}

/** The durations of requests with the same method, route and outcome. */
export interface Duration {
  method: string;
  /** The path of the operation; '' without one. */
  route: string;
  /** Undefined where the client had disconnected. */
  status: number | undefined;
  error: string | undefined;
  seconds: Distribution;
}

export interface Counts {
  inFlight: number;
  connections: number;
  /** When the stored API keys were last read, in seconds since 1970. */
  keysReadAt: number;
  /** Requests that were refused before their operation was known. */
  refused: Map<ErrorCode, number>;
  /** Connections that the server closed: over the limit, idle when others needed room, or with replies that the client does not read. */
  dropped: Record<'full' | 'idle' | 'unread', number>;
  durations(): Duration[];
  refuse(code: ErrorCode): void;
  /** Counts a finished request; `status` is undefined where its client had disconnected. */
  end(request: FastifyRequest, status: number | undefined, ms: number): void;
}

/** The methods that routes may have; all others are counted together. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']);

type ByEnd = Map<string | number, Duration>;

const newMap = () => new Map();

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, build: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = build();
    map.set(key, value);
  }
  return value;
}

/** `pathOf` returns the path of an operation as the contract writes it. */
export function buildCounts(pathOf: (operationId: string) => string): Counts {
  const all = new Map<string, Map<string, ByEnd>>();

  const endsOf = (route: string, method: string): ByEnd => entryOf(entryOf(all, route, newMap), method, newMap);

  return {
    inFlight: 0,
    connections: 0,
    keysReadAt: 0,
    refused: new Map(),
    dropped: { full: 0, idle: 0, unread: 0 },
    durations: () =>
      [...all.values()].flatMap((methods) => [...methods.values()].flatMap((ends) => [...ends.values()])),
    refuse(code) {
      this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
    },
    end(request, status, ms) {
      this.inFlight--;
      const { operationId, errorCode, method: sent } = request;
      const route = operationId ?? request.routeOptions.url ?? '';
      const method = METHODS.has(sent) ? sent : '_OTHER';
      const ends = endsOf(route, method);
      const isAborted = status === undefined;
      const end = isAborted ? 'aborted' : (errorCode ?? status);
      const duration = entryOf(ends, end, () => {
        const path = operationId === undefined ? route : pathOf(operationId);
        return buildDuration(method, path, status, isAborted ? 'aborted' : (errorCode ?? codeOf(status)));
      });
      duration.seconds.add(ms / 1000);
    },
  };
}

function buildDuration(method: string, route: string, status: number | undefined, error: string | undefined): Duration {
  return { method, route, status, error, seconds: new Distribution(SECONDS) };
}

/** A handler's answer is counted under the first code of its status. */
function codeOf(status: number): ErrorCode | undefined {
  return CODES.find((code) => kindOf(code).status === status);
}
