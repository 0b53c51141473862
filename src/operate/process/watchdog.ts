/** Watches for processes whose event loop hangs: they answer nobody, and cannot end themselves. */
import { execFile } from 'node:child_process';
import type { Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { BEAT_INTERVAL } from './worker.ts';

/** How long a worker may be silent, in milliseconds: longer than any iteration of its event loop, even on an overloaded machine. */
const SILENCE = 10_000;

/** Kills workers that have been silent for too long. A worker is watched from its first beat on. */
export class Watchdog {
  readonly #heard = new Map<Worker, number>();
  readonly #logger: Logger;
  readonly #silence: number;
  #looked = performance.now();

  constructor(logger: Logger, silence = SILENCE, interval = BEAT_INTERVAL) {
    this.#logger = logger;
    this.#silence = silence;
    setInterval(() => this.#look(), interval).unref();
  }

  hear(worker: Worker): void {
    this.#heard.set(worker, performance.now());
  }

  forget(worker: Worker): void {
    this.#heard.delete(worker);
  }

  #look(): void {
    const now = performance.now();
    const wasAway = now - this.#looked > this.#silence / 2;
    this.#looked = now;
    for (const [worker, heard] of this.#heard) {
      // If this process itself was paused, as when the machine slept, it has heard nobody.
      if (wasAway) this.hear(worker);
      else if (now - heard > this.#silence) {
        this.forget(worker);
        this.#logger.error(
          { worker: worker.process.pid, silent: Math.round(now - heard) },
          'a worker stands still, and is killed',
        );
        worker.process.kill('SIGKILL');
      }
    }
  }
}

/**
 * Notifies systemd that the event loop of this process is alive, if its unit has a `WatchdogSec`. By systemd's own program, since its
 * socket is a datagram socket, which Node lacks.
 */
export function tellSystemd({ WATCHDOG_USEC }: NodeJS.ProcessEnv): NodeJS.Timeout | undefined {
  if (WATCHDOG_USEC === undefined) return undefined;
  const tell = () => execFile('systemd-notify', ['WATCHDOG=1'], () => {});
  return setInterval(tell, Number(WATCHDOG_USEC) / 1000 / 3).unref();
}
