/** Fastify's own log: `app.log` and `request.log` write to ours, with the id of the request. The line of each request stays ours. */
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { ToLogged } from './logged-urls.ts';

/** Fastify's own lines of a request are left out, since ours says it all, but for an error behind its reply. */
class OwnLines extends LogController {
  override requestCompleted(...[error, request]: Parameters<LogController['requestCompleted']>): void {
    if (error) request.log.error({ err: error }, 'a hook failed behind the reply');
  }
}

/**
 * The log of the server, those of its requests, and the part of it that is an option. Fastify itself gets no logger: it would listen for the
 * end of each reply, to log what our own line says, and make and check a logger for each request, a tenth of a get. A plugin may
 * log a whole request, whose URL may have a key.
 */
export function buildFastifyLog(logger: Logger, toLogged: ToLogged) {
  const req = ({ method, url }: { method: string; url: string }) => ({ method, url: toLogged(url) });
  const log = logger.child({}, { serializers: { req } }) as FastifyBaseLogger;
  function addLog(request: FastifyRequest, reply: FastifyReply): void {
    const own: unknown = new RequestLogger(log, request);
    request.log = own as FastifyBaseLogger;
    reply.log = own as FastifyBaseLogger;
  }
  return { log, addLog, logController: new OwnLines({ disableRequestLogging: true }) };
}

/** Made when it is first asked for: a child of pino's takes a twentieth of a get. */
class RequestLogger {
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

/** Of pino's loggers. */
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
