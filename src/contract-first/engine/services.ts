/** The services that a team defines in `services.ts`: their settings, health checks and shutdown. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Awaitable } from '../store/collection.ts';
import { HttpError } from './errors/catalogue.ts';
import { withTimeout } from './timeout.ts';

/**
 * A setting that is read from an environment variable. Without a fallback, the variable must be set. A secret may also
 * be read from the file that `<name>_FILE` names.
 */
export type Setting =
  | {
      kind: 'text' | 'secret';
      fallback?: string;
      /** The rule for the value, as words for error messages. `fits` checks whether a value follows this rule. */
      rule?: string;
      fits?: (value: string) => boolean;
    }
  | { kind: 'integer'; fallback: number; least: number; most: number };

/** The settings, by the names of their environment variables. */
export type Settings = Readonly<Record<string, Setting>>;

/** The values of the settings, by the names of their environment variables. */
export type SettingsOf<Declared extends Settings> = {
  readonly [Name in keyof Declared]: Declared[Name] extends { kind: 'integer' } ? number : string;
};

export interface ServiceParts {
  /** The server's log. */
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}

interface Service {
  /** Checks the service. While it throws, `/readyz` reports that the server is not ready. */
  check?(): Awaitable<unknown>;
  /** Called when all requests are answered. The stop waits until `close` has ended, and then closes the store. */
  close?(): Awaitable<unknown>;
}

/** The timeout for the `check` of a service, in milliseconds. */
const CHECK_TIMEOUT = 2000;
/** How long the result of a check is reused, in milliseconds. The time begins with the check. */
const ANSWER_AGE = 1000;

const all = (services: object): [string, Service][] =>
  Object.entries(services).filter(([, service]) => typeof service === 'object' && service !== null);

/** @throws HttpError if a service cannot be used or does not answer in time; the error's `cause` names the service */
type CheckServices = () => Promise<void>;

/**
 * Builds the check of all services. The services are checked at most once a second, and all calls in this second share
 * the result, even if it is an error. The limit is needed because `/readyz` needs no key, and a flood of requests to it
 * must not reach the services.
 */
export function buildCheckServices(services: object, timeout = CHECK_TIMEOUT): CheckServices {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<unknown>;
  return async () => {
    const now = performance.now();
    if (now - askedAt >= ANSWER_AGE) {
      askedAt = now;
      answer = Promise.all(all(services).map((one) => checkService(one, timeout)));
    }
    await answer;
  };
}

async function checkService([name, service]: [string, Service], timeout: number): Promise<void> {
  try {
    await withTimeout(service.check?.(), timeout, 'it does not answer in time');
  } catch (error) {
    const cause = new Error(`the service ${name} cannot be used`, { cause: error });
    throw new HttpError('unavailable', 'The service is unavailable. Try again later.', { cause });
  }
}

/** Closes the services when the app closes. */
export function addServices(app: FastifyInstance, services: object): void {
  app.addHook('onClose', async () => {
    await Promise.all(all(services).map(async ([, service]) => service.close?.()));
  });
}
