/** Handles signals: the first signal asks for a graceful stop, and the second for an immediate one. */
import { isatty } from 'node:tty';
import type { Logger } from 'pino';

/** The signals that ask for a stop, from a terminal, a supervisor, or nodemon. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;

/**
 * True if the process was started in a terminal. SIGHUP then means that the terminal has closed. After that, `isatty`
 * returns false, so it is called at the start. Without a terminal, logrotate sends SIGHUP, to ask programs to reopen
 * their log files. The server does not write log files, so it ignores the signal.
 */
const IN_TERMINAL = [0, 1, 2].some((descriptor) => isatty(descriptor));

/**
 * The maximum time between two signals that count as one, in milliseconds. Ctrl-C on `npm start` sends two signals: one
 * from the terminal, and one from npm.
 */
const DOUBLE_SIGNAL_MS = 500;

/**
 * Ends the process without a graceful stop. Only used at the beginning of a start, before anything must be closed.
 * `onSignals` later replaces this handler.
 */
function endAtOnce(signal: string): void {
  if (signal !== 'SIGHUP' || IN_TERMINAL) process.exit(0);
}

/**
 * Adds the first handlers of signals. Call this function before anything else. The handler of SIGUSR1 does nothing, but
 * without a handler Node would open the debugger's port to all programs of the machine. Only `--inspect` should do
 * this.
 */
export function endOnSignals(): void {
  for (const signal of STOP_SIGNALS) process.on(signal, endAtOnce);
  process.on('SIGUSR1', () => {});
}

interface OnStopSignals {
  onFirst: (signal: string) => void;
  onSecond: (signal: string) => void;
  logger: Logger;
  env: NodeJS.ProcessEnv;
}

export function onStopSignals({ onFirst, onSecond, logger, env }: OnStopSignals): void {
  let first: number | undefined;
  function take(signal: string): void {
    if (signal === 'SIGHUP' && !IN_TERMINAL) logger.info({ signal }, 'ignored: settings are read only at the start');
    else if (first === undefined) {
      first = Date.now();
      onFirst(signal);
    } else if (Date.now() - first > DOUBLE_SIGNAL_MS) onSecond(signal);
  }
  onSignals(take);
  whenShellEnds(env, 'start', () => {
    if (first === undefined) take('SIGTERM');
  });
}

/**
 * Calls `act` when npm's shell has ended. npm runs a script in a shell. A signal to npm ends this shell, but does not
 * reach the script.
 */
export function whenShellEnds(env: NodeJS.ProcessEnv, script: string, act: () => void): void {
  if (env.npm_lifecycle_event !== script) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    act();
  }, DOUBLE_SIGNAL_MS).unref();
}

/**
 * Replaces the handlers that `endOnSignals` has added. Adds the new handler before it removes the old one, because Node
 * drops a pending signal without a handler.
 */
export function onSignals(take: (signal: string) => void): void {
  for (const signal of STOP_SIGNALS) process.on(signal, take).off(signal, endAtOnce);
}
