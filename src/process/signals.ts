/** SIGINT and SIGTERM: the first asks for a stop in good order, a second one for the end. */

/** Ctrl-C on `npm start` comes twice, from the terminal and from npm: what comes so soon, in milliseconds, is the same. */
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
