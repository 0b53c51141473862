/**
 * Collects the durations of requests in the buckets of histograms. prom-client's own histogram would add 4 to 10 % to
 * the time of a list request, because it looks up the labels for each request. The contract and the error catalogue
 * determine the values of labels, so clients cannot create new values.
 */
import type { FastifyRequest } from 'fastify';
import type { Catalogue } from '../../engine/errors/catalogue.ts';
import { Counts } from '../../engine/http/log/request-log.ts';
import { stateOf } from '../../engine/request-state.ts';

/** The upper bounds of the buckets, in seconds. Replies take 0.1 to 5 ms; if the server stalls, they take seconds. */
export const SECONDS: number[] = [
  ...[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
];

/** The durations of requests with the same method, route and outcome. */
export class Durations {
  readonly labels: Record<string, string | number>;
  /**
   * The number of requests in each bucket. A bucket counts durations up to its own bound and above the previous bound.
   * The last bucket counts durations above all bounds.
   */
  readonly buckets: number[] = Array<number>(SECONDS.length + 1).fill(0);
  sum = 0;

  constructor(labels: Durations['labels']) {
    this.labels = labels;
  }

  add(seconds: number): void {
    let bucket = 0;
    while (seconds > (SECONDS[bucket] as number)) bucket++;
    (this.buckets[bucket] as number)++;
    this.sum += seconds;
  }

  get count(): number {
    return this.buckets.reduce((sum, count) => sum + count, 0);
  }
}

/** The methods that routes may have. The other methods are counted together, as `_OTHER`. */
const COUNTED_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']);

type ByOutcome = Map<string | number, Durations>;

const newMap = () => new Map();

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, build: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = build();
    map.set(key, value);
  }
  return value;
}

export class RequestCounts extends Counts {
  readonly #pathOf: (operationId: string) => string;
  readonly #codes: Map<number, string>;
  readonly #all = new Map<string, Map<string, ByOutcome>>();

  /** `pathOf` returns the path of an operation with its parameters: `/v1/books/{bookId}`. */
  constructor(pathOf: (operationId: string) => string, catalogue: Catalogue) {
    super();
    // An error reply that a handler sends lacks an error code. The metric names the catalogue's first code for its
    // status instead.
    this.#codes = new Map(
      Object.entries(catalogue)
        .reverse()
        .map(([code, { status }]) => [status, code]),
    );
    this.#pathOf = pathOf;
  }

  durations(): Durations[] {
    return [...this.#all.values()].flatMap((methods) => [...methods.values()].flatMap((ends) => [...ends.values()]));
  }

  override end(request: FastifyRequest, status: number | undefined, ms: number): void {
    super.end(request, status, ms);
    const { operationId, errorCode } = stateOf(request);
    const { method: sent } = request;
    const route = operationId ?? request.routeOptions.url ?? '';
    const method = COUNTED_METHODS.has(sent) ? sent : '_OTHER';
    const outcomes: ByOutcome = entryOf(entryOf(this.#all, route, newMap), method, newMap);
    const durations = entryOf(outcomes, status === undefined ? 'aborted' : (errorCode ?? status), () => {
      const path = operationId === undefined ? route : this.#pathOf(operationId);
      const error = status === undefined ? 'aborted' : (errorCode ?? this.#codes.get(status));
      return new Durations(toLabels(method, path, status, error));
    });
    durations.add(ms / 1000);
  }
}

function toLabels(method: string, path: string, status: number | undefined, error: string | undefined) {
  return {
    http_request_method: method,
    ...(path !== '' && { http_route: path }),
    ...(status !== undefined && { http_response_status_code: status }),
    ...(error !== undefined && { error_type: error }),
  };
}
