/** SIGINT and SIGTERM: the first asks for a graceful stop, a second one for a stop at once. */

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
  process.on('SIGINT', take).on('SIGTERM', take);
}
