/** Handles signals: the first signal asks for a graceful stop, and the second for an immediate one. */
import { isatty } from 'node:tty';
import type { Logger } from 'pino';

/** The signals that ask for a stop, from a terminal, a supervisor, or nodemon. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;

/**
 * Whether the process was started in a terminal. If so, SIGHUP means that the terminal has closed; by then, it is not a terminal any more.
 * Otherwise SIGHUP comes from logrotate, which wants programs to open their log files again; this program has no log files.
 */
const IN_TERMINAL = [0, 1, 2].some((descriptor) => isatty(descriptor));

/**
 * Two signals within this time, in milliseconds, count as one, because Ctrl-C on `npm start` arrives from the terminal and also from npm.
 */
const DOUBLE_SIGNAL_MS = 500;

/** Ends the process at a signal, until `onSignals` is called. Until then, nothing needs a graceful stop. */
function endAtOnce(signal: string): void {
  if (signal !== 'SIGHUP' || IN_TERMINAL) process.exit(0);
}

/**
 * Prepares the signals; call this first. SIGUSR1 gets a handler that does nothing. By default, Node would open the debugger's port to any
 * program of the machine, which only `--inspect` should do.
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

/** Calls `act` when npm's shell ends. npm runs a script in a shell, which ends at a signal to npm without passing it on. */
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
 * Replaces the handlers of `endOnSignals`. The new listener is added first, because without a listener, Node would drop a signal that it
 * has not delivered yet.
 */
export function onSignals(take: (signal: string) => void): void {
  for (const signal of STOP_SIGNALS) process.on(signal, take).off(signal, endAtOnce);
}
