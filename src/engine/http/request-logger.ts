/** Fastify's own log: `app.log` and `request.log` write to ours, with the id of the request. The line of each request stays ours. */
import { type FastifyBaseLogger, type FastifyServerOptions, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { ToLogged } from './logged-urls.ts';

/** What Fastify logs by itself of a request is in its line; only what fails behind its reply is not. */
class OwnLines extends LogController {
  override requestCompleted(...[error, request]: Parameters<LogController['requestCompleted']>): void {
    if (error) request.log.error({ err: error }, 'a hook failed behind the reply');
  }
}

/**
 * Fastify's options, and what `app.log` is to be. It is no `loggerInstance`: Fastify would listen for the end of each reply, which takes a
 * get 4 % longer, to log what our own line says. A plugin may log a whole request, whose URL may have a key.
 */
export function buildFastifyLog(logger: Logger, toLogged: ToLogged) {
  const req = ({ method, url }: { method: string; url: string }) => ({ method, url: toLogged(url) });
  const log = logger.child({}, { serializers: { req } }) as FastifyBaseLogger;
  const options = {
    logController: new OwnLines({ disableRequestLogging: true }),
    childLoggerFactory: ((_parent, bindings, options) => {
      const child: unknown = new RequestLogger(log, bindings, options);
      return child as FastifyBaseLogger;
    }) as NonNullable<FastifyServerOptions['childLoggerFactory']>,
  };
  return { log, options };
}

type ChildGiven = Parameters<FastifyBaseLogger['child']>;

/** Made when it is first asked for: a child of pino's takes a twentieth of a get. */
class RequestLogger {
  readonly #parent: FastifyBaseLogger;
  readonly #given: ChildGiven;
  #made: FastifyBaseLogger | undefined;

  constructor(parent: FastifyBaseLogger, ...given: ChildGiven) {
    this.#parent = parent;
    this.#given = given;
  }

  get own(): FastifyBaseLogger {
    this.#made ??= this.#parent.child(...this.#given);
    return this.#made;
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
