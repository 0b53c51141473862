/** Fastify's own log: `app.log` and `request.log` write to ours, with the request's id. */
import { type FastifyBaseLogger, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { ToLogged } from './logged-urls.ts';

/** Drops Fastify's own lines for a request, since ours has everything but an error after the reply. */
class OwnLines extends LogController {
  override requestCompleted(...[error, request]: Parameters<LogController['requestCompleted']>): void {
    if (error) request.log.error({ err: error }, 'a hook failed behind the reply');
  }
}

/**
 * Returns the server's log, and Fastify's option. Fastify itself gets no logger: it would
 * listen for the end of each reply, and make a logger for each request, a tenth of a get. The serializer hides keys in the URL when a
 * plugin logs a whole request.
 */
export function buildFastifyLog(logger: Logger, toLogged: ToLogged) {
  const req = ({ method, url }: { method: string; url: string }) => ({ method, url: toLogged(url) });
  const log = logger.child({}, { serializers: { req } }) as FastifyBaseLogger;
  return { log, logController: new OwnLines({ disableRequestLogging: true }) };
}

/** A request's logger, made when it is first used: a child logger of pino takes a twentieth of a get. */
export class RequestLogger {
  readonly #parent: FastifyBaseLogger;
  readonly #request: FastifyRequest;
  #made: FastifyBaseLogger | undefined;

  constructor(parent: FastifyBaseLogger, request: FastifyRequest) {
    this.#parent = parent;
    this.#request = request;
  }

  get own(): FastifyBaseLogger {
    this.#made ??= this.#make();
    return this.#made;
  }

  #make() {
    const { id, routeOptions } = this.#request;
    return this.#parent.child({ reqId: id }, routeOptions.logLevel ? { level: routeOptions.logLevel } : {});
  }

  get level(): string {
    return this.own.level;
  }

  set level(level: string) {
    this.own.level = level;
  }
}

/** The methods of pino's loggers. */
const METHODS = [
  ...['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
  ...['child', 'bindings', 'setBindings', 'isLevelEnabled', 'flush'],
];

for (const name of METHODS) {
  Object.defineProperty(RequestLogger.prototype, name, {
    value(this: RequestLogger, ...args: unknown[]) {
      return (this.own as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.(...args);
    },
  });
}
