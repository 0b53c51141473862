/** The services of a team's `services.ts`: their settings, health checks and end. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Awaitable } from '../store/collection.ts';
import { HttpError } from './errors/catalogue.ts';
import { withTimeout } from './timeout.ts';

/** An environment variable. Without a fallback it must be set. A secret may also be in the file that `<name>_FILE` names. */
export type Setting =
  | {
      kind: 'text' | 'secret';
      fallback?: string;
      /** The rule for its value, in words and as a function. */
      rule?: string;
      fits?: (value: string) => boolean;
    }
  | { kind: 'integer'; fallback: number; least: number; most: number };

/** By the names of the variables. */
export type Settings = Readonly<Record<string, Setting>>;

/** The values, by the names of the variables. */
export type SettingsOf<Declared extends Settings> = {
  readonly [Name in keyof Declared]: Declared[Name] extends { kind: 'integer' } ? number : string;
};

export interface ServiceParts {
  /** The server's log. */
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}

interface Service {
  /** Throws while the service cannot be used: then the server is not ready. */
  check?(): Awaitable<unknown>;
  /** Called and awaited when all requests are answered, before the store is closed. */
  close?(): Awaitable<unknown>;
}

/** How long `check` of a service may take, in milliseconds. */
const CHECK_TIMEOUT = 2000;
/** How long an answer of the services holds, from the question on, in milliseconds. */
const ANSWER_AGE = 1000;

const all = (services: object): [string, Service][] =>
  Object.entries(services).filter(([, service]) => typeof service === 'object' && service !== null);

/** @throws HttpError with a cause that names a service which cannot be used, or does not answer in time */
type CheckServices = () => Promise<void>;

/**
 * Checks the services at most once a second: all calls in that second share one answer, good or bad. `/readyz` needs no key, so a flood of
 * requests for it must not reach the services.
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
