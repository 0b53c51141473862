/** What a team's `services.ts` builds beside its store: its settings, its health and its end. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Awaitable } from '../store/collection.ts';
import { HttpError } from './errors.ts';

/** A variable of the environment. One without a fallback has to be set. A secret may also be in the file that `<name>_FILE` names. */
export type Setting =
  | {
      kind: 'text' | 'secret';
      fallback?: string;
      /** What it must be, in words, and as a check. */
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
  /** Fails while it cannot be used: then the server is not ready. */
  check?(): Awaitable<unknown>;
  /** Waited for when all requests are answered, before the store is closed. */
  close?(): Awaitable<unknown>;
}

/** How long a service may take to say that it can be used, in milliseconds. */
const START_TIMEOUT = 2000;
const LATE = Symbol('late');

const all = (services: object): [string, Service][] =>
  Object.entries(services).filter(([, service]) => typeof service === 'object' && service !== null);

/** @throws HttpError whose cause names the service that cannot be used, or does not say so in time */
export async function checkServices(services: object, patience = START_TIMEOUT): Promise<void> {
  await Promise.all(
    all(services).map(async ([name, service]) => {
      const late = new AbortController();
      try {
        const answered = await Promise.race([service.check?.(), wait(patience, LATE, { signal: late.signal })]);
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

/** What handlers get, for plugins. */
export function addServices(app: FastifyInstance, collections: object, services: object): void {
  app.decorate('collections', collections as FastifyInstance['collections']);
  app.decorate('services', services);
  app.addHook('onClose', async () => {
    await Promise.all(all(services).map(async ([, service]) => service.close?.()));
  });
}
