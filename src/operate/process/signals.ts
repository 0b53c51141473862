/** What a signal does: the first asks for a graceful stop, a second one for a stop at once. */

/** Those that ask for a stop: of a terminal, of a supervisor, of nodemon. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;

/** Ctrl-C on `npm start` comes twice, from the terminal and from npm: within this time, in milliseconds, it counts once. */
const SAME = 500;

export function onStopSignals(onFirst: (signal: string) => void, onSecond: (signal: string) => void): void {
  let first: number | undefined;
  function take(signal: string): void {
    if (first === undefined) {
      first = Date.now();
      onFirst(signal);
    } else if (Date.now() - first > SAME) onSecond(signal);
  }
  for (const signal of STOP_SIGNALS) process.on(signal, take);
}

/**
 * Node opens the debugger's port on SIGUSR1, to any program of the machine; with a listener of our own it does not. Node 22.14 has the option
 * `--disable-sigusr1` as well, which each operator would have to know.
 */
export function refuseDebugger(): void {
  process.on('SIGUSR1', () => {});
}
