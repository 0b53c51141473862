/** Processes whose event loop stands still answer nobody, and cannot end themselves: who watches them replaces them. */
import { execFile } from 'node:child_process';
import type { Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { BEAT_INTERVAL } from './worker.ts';

/** How long a worker may say nothing, in milliseconds: longer than any turn of its loop on a machine that is busy beyond reason. */
const SILENCE = 10_000;

/** Kills workers that have said nothing for too long. One that has not begun to listen is not watched. */
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
      // While this process stood still itself, as on a machine that slept, it heard nobody.
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
 * Tells systemd that the event loop of this process turns, where its unit has a `WatchdogSec`. By its own program, since the socket is
 * one of datagrams, which Node lacks.
 */
export function tellSystemd({ WATCHDOG_USEC }: NodeJS.ProcessEnv): NodeJS.Timeout | undefined {
  if (WATCHDOG_USEC === undefined) return undefined;
  const tell = () => execFile('systemd-notify', ['WATCHDOG=1'], () => {});
  return setInterval(tell, Number(WATCHDOG_USEC) / 1000 / 3).unref();
}
