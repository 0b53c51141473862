/** The services of a team's `services.ts`: their settings, health checks and end. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Awaitable } from '../store/collection.ts';
import { HttpError } from './errors.ts';

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
const LATE = Symbol('late');

const all = (services: object): [string, Service][] =>
  Object.entries(services).filter(([, service]) => typeof service === 'object' && service !== null);

/** @throws HttpError whose cause names the service that cannot be used, or does not answer in time */
export async function checkServices(services: object, timeout = CHECK_TIMEOUT): Promise<void> {
  await Promise.all(
    all(services).map(async ([name, service]) => {
      const late = new AbortController();
      try {
        const answered = await Promise.race([service.check?.(), wait(timeout, LATE, { signal: late.signal })]);
        if (answered === LATE) throw new Error('it does not answer in time');
      } catch (error) {
        const cause = new Error(`the service ${name} cannot be used`, { cause: error });
        throw new HttpError('unavailable', 'The service is unavailable. Try again later.', { cause });
      } finally {
        late.abort();
      }
    }),
  );
}

/** Decorates the app with collections and services, so that plugins have them, too. */
export function addServices(app: FastifyInstance, collections: object, services: object): void {
  app.decorate('collections', collections as FastifyInstance['collections']);
  app.decorate('services', services as FastifyInstance['services']);
  app.addHook('onClose', async () => {
    await Promise.all(all(services).map(async ([, service]) => service.close?.()));
  });
}
