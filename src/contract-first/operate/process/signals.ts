/** Handles signals: the first asks for a graceful stop, a second one for an immediate stop. */
import { isatty } from 'node:tty';
import type { Logger } from 'pino';

/** The signals that ask for a stop, from a terminal, a supervisor, or nodemon. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;

/** Ctrl-C on `npm start` arrives twice, from the terminal and from npm: two signals in this time, in milliseconds, count as one. */
const DOUBLE_SIGNAL_MS = 500;

/** Handles signals until `onSignals` is called: nothing needs a graceful stop yet. */
function endAtOnce(signal: string): void {
  if (signal !== 'SIGHUP' || hasTerminal()) process.exit(0);
}

/**
 * To be called first. SIGUSR1 does nothing: by default, Node would open the debugger's port to any program of the machine, which only
 * `--inspect` should do.
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
    if (signal === 'SIGHUP' && !hasTerminal()) logger.info({ signal }, 'ignored: settings are read only at the start');
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

/** Npm runs a script in a shell, which ends at a signal to npm and does not pass it on. */
export function whenShellEnds(env: NodeJS.ProcessEnv, script: string, act: () => void): void {
  if (env.npm_lifecycle_event !== script) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    act();
  }, DOUBLE_SIGNAL_MS).unref();
}

/** Replaces the immediate end. The new listener is added first: without any, Node drops a signal that it has not delivered yet. */
export function onSignals(take: (signal: string) => void): void {
  for (const signal of STOP_SIGNALS) process.on(signal, take).off(signal, endAtOnce);
}

/** With a terminal, SIGHUP means that the terminal has closed. Without one, logrotate sends it to have log files reopened; we have none. */
function hasTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor));
}
