/** A signal asks for a graceful stop, a second one for a stop at once. */
import { isatty } from 'node:tty';
import type { Logger } from 'pino';

/** The signals of a terminal, of a supervisor, and of nodemon that ask for a stop. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;

/** Ctrl-C on `npm start` comes twice, from the terminal and from npm: within this time, in milliseconds, it counts once. */
const SAME = 500;

/** Until there is more to end than the process. */
function endAtOnce(signal: string): void {
  if (signal !== 'SIGHUP' || hasTerminal()) process.exit(0);
}

/**
 * To be called first of all. SIGUSR1 does nothing: Node would open the debugger's port, to any program of the machine; its option
 * `--inspect` asks for that.
 */
export function endOnSignals(): void {
  for (const signal of STOP_SIGNALS) process.on(signal, endAtOnce);
  process.on('SIGUSR1', () => {});
}

export interface OnStopSignals {
  onFirst: (signal: string) => void;
  onSecond: (signal: string) => void;
  logger: Logger;
}

export function onStopSignals({ onFirst, onSecond, logger }: OnStopSignals): void {
  let first: number | undefined;
  function take(signal: string): void {
    if (signal === 'SIGHUP' && !hasTerminal()) logger.info({ signal }, 'ignored: nothing is read again but at a start');
    else if (first === undefined) {
      first = Date.now();
      onFirst(signal);
    } else if (Date.now() - first > SAME) onSecond(signal);
  }
  onSignals(take);
}

/** In place of the end at once. */
export function onSignals(take: (signal: string) => void): void {
  for (const signal of STOP_SIGNALS) process.off(signal, endAtOnce).on(signal, take);
}

/** SIGHUP says that the terminal is gone; without one, logrotate and others send it for files to be opened again, and here is none. */
function hasTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor));
}
