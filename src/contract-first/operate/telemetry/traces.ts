/**
 * Sends traces by OTLP over HTTP: a span for each sampled request, and a span for each of its calls to the store. No
 * library is patched for this. Except for the variables in `config.ts`, OpenTelemetry's SDK reads the `OTEL_*`
 * variables itself.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Attributes, Context, Span, SpanContext, Tracer } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { buildIsProxy } from '../../engine/http/client-address.ts';
import type { ToLogged } from '../../engine/http/log/logged-urls.ts';
import { type AddTraces, toTrace } from '../../engine/http/log/request-log.ts';
import { stateOf } from '../../engine/request-state.ts';
import type { Commit, StoreCounts } from '../../store/store.ts';
import type { OpenTelemetry } from './open-telemetry.ts';

/** The time that the last spans may take to be sent when the server stops, in milliseconds. */
const LAST_SPANS = 1000;

/** The length of a `traceparent` of version 00. Later versions may append fields. */
const TRACEPARENT_LENGTH = 55;

type Api = OpenTelemetry['api'];

interface TracesParts {
  openTelemetry: OpenTelemetry;
  name: string;
  version: string;
  /** The value of the attribute `db.system.name`, such as `postgresql`. */
  system: string;
  /**
   * The share of requests without a trusted `traceparent` that are sampled, from 0 to 1; if undefined, the SDK decides
   * by its variables.
   */
  ratio: number | undefined;
  /**
   * The addresses and ranges of the clients that the server trusts to send `traceparent`: spans continue the client's
   * trace.
   */
  trusted: readonly string[];
  logger: Logger;
}

function buildProvider({ openTelemetry, name, version, ratio, logger }: TracesParts) {
  const { api, exporter, resources, sdk } = openTelemetry;
  const warn = logger.warn.bind(logger);
  const report = { error: warn, warn, info: warn, debug: warn, verbose: warn };
  api.diag.setLogger(report, { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
  return new sdk.BasicTracerProvider({
    ...(ratio !== undefined && { sampler: new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() }) }),
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': name, 'service.version': version }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    // The processor sends spans from a queue. If the queue is full, it drops them.
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter())],
  });
}

export function buildTraces(parts: TracesParts): AddTraces {
  const { name, version, system, ratio, trusted } = parts;
  const { api } = parts.openTelemetry;
  const provider = buildProvider(parts);
  const tracer = provider.getTracer(name, version);
  const isTrusted = buildIsProxy(trusted, () => false);

  return (app, collections, counts, toLogged, toAddress) => {
    const commits: Commits = { counts, spans: new WeakMap() };
    // Waits at most `LAST_SPANS`, so that a collector that does not reply cannot delay the stop for longer.
    app.addHook('onClose', async () => {
      await Promise.race([provider.shutdown(), wait(LAST_SPANS)]);
    });

    return (request, reply) => {
      const { headers, method } = request;
      const isJoined = headers.traceparent !== undefined && isTrusted?.(toAddress(request.raw)) === true;
      if (ratio !== undefined && isLeftOut(isJoined ? headers.traceparent : undefined, ratio)) return;
      const parent = isJoined ? toParent(api, headers) : api.ROOT_CONTEXT;
      const span = tracer.startSpan(method, { kind: api.SpanKind.SERVER }, parent);
      if (!span.isRecording()) return;
      const state = stateOf(request);
      state.span = span.spanContext();
      const calling = { api, tracer, context: api.trace.setSpan(parent, span), system, commits };
      const traced = Object.entries(collections).map(([name, calls]) => [name, traceCalls(calls, calling)]);
      state.tracedCollections = Object.fromEntries(traced);
      reply.raw.once('close', () => end(api, span, request, reply, toLogged));
    };
  };
}

/**
 * True if the request is not sampled. The server decides this before the SDK makes a span, because most requests are
 * not sampled, and making a span would lengthen each of them by a third.
 */
function isLeftOut(traceparent: string | string[] | undefined, ratio: number): boolean {
  if (!toTrace(traceparent)) return Math.random() >= ratio;
  return !isSampled(traceparent);
}

/** True if the `sampled` flag is set, so that the last digit is odd (W3C Trace Context, section 3.2.2.5). */
const isSampled = (traceparent: string | string[] | undefined) =>
  /[13579bdf]$/.test(String(traceparent).slice(0, TRACEPARENT_LENGTH));

/**
 * Returns the parent context for the request's span: the context of the client's span, or the root context if the
 * client sent none.
 */
function toParent(
  { ROOT_CONTEXT, TraceFlags, createTraceState, trace }: Api,
  { traceparent, tracestate = '' }: IncomingHttpHeaders,
): Context {
  const sent = toTrace(traceparent);
  if (!sent) return ROOT_CONTEXT;
  const traceFlags = isSampled(traceparent) ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const traceState = createTraceState(String(tracestate));
  const { traceId, parentId: spanId } = sent;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, traceState, isRemote: true });
}

function end(
  { SpanStatusCode }: Api,
  span: Span,
  request: FastifyRequest,
  { raw }: FastifyReply,
  toLogged: ToLogged,
): void {
  const { method, routeOptions, url, protocol } = request;
  const { statusCode } = raw;
  // The contract's path, such as `/books/{bookId}`. The path in the URL would let clients create any number of span
  // names.
  const route = routeOptions.url?.replace(/:(\w+)/g, '{$1}');
  if (route) span.updateName(`${method} ${route}`);
  const failure = statusCode >= 500 && String(statusCode);
  const attributes: Attributes = {
    'http.request.method': method,
    'url.path': toLogged(url).split('?', 1)[0] as string,
    'url.scheme': protocol,
    'http.response.status_code': statusCode,
    ...(route && { 'http.route': route }),
    ...(failure && { 'error.type': failure }),
  };
  span.setAttributes(attributes);
  if (failure) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** The spans of commits that contain sampled writes. */
interface Commits {
  counts: StoreCounts;
  spans: WeakMap<Commit, SpanContext>;
}

interface Calling {
  api: Api;
  tracer: Tracer;
  /** The context of the request's span, which is the parent of the spans of all calls to the store. */
  context: Context;
  system: string;
  commits: Commits;
}

const READS = ['get', 'list', 'read'];

/**
 * Returns the span of a commit. The span is the root of a separate trace, because many writes of different requests
 * share a commit. The span of each of these writes links to it.
 */
function toCommit({ api, tracer, system, commits: { spans } }: Calling, commit: Commit): SpanContext {
  const known = spans.get(commit);
  if (known) return known;
  const { began, ended, size } = commit;
  const attributes = { 'db.system.name': system, 'db.operation.name': 'commit', 'db.operation.batch.size': size };
  const span = tracer.startSpan('commit', { kind: api.SpanKind.CLIENT, attributes, startTime: began, root: true });
  span.end(ended);
  spans.set(commit, span.spanContext());
  return span.spanContext();
}

/**
 * Wraps a collection so that each call of its methods makes a span. Also wraps the collection that the method `of`
 * returns.
 */
export function traceCalls<Calls extends object>(calls: Calls, calling: Calling): Calls {
  const { api, tracer, context, system, commits } = calling;
  return new Proxy(calls, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...values: unknown[]) => unknown;
      if (name === 'of') return (tenant: unknown) => traceCalls(method(tenant) as object, calling);
      return async (...values: unknown[]) => {
        const attributes = { 'db.system.name': system, 'db.operation.name': String(name) };
        const span = tracer.startSpan(String(name), { kind: api.SpanKind.CLIENT, attributes }, context);
        const fail = (error: Error) => {
          span.setStatus({ code: api.SpanStatusCode.ERROR, message: error.message });
          throw error;
        };
        const before = commits.counts.latest;
        const link = () => {
          const { latest } = commits.counts;
          if (latest && latest !== before && !READS.includes(String(name)))
            span.addLink({ context: toCommit(calling, latest) });
        };
        const answer = (async () => method.apply(target, values))();
        // `link` reads the latest commit, and runs before the next commit can end, so the latest commit is the one with
        // this write.
        answer.then(link, () => {});
        return answer.catch(fail).finally(() => span.end());
      };
    },
  });
}
