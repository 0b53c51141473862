/** Runs a function of a team's own, and ends it where it does not end by itself: whoever waits behind it would wait for ever. */
import { type Context, createContext, Script } from 'node:vm';

const RUN = new Script('run()');
let place: Context | undefined;

/** It cannot catch that its time is over. @throws NotEnded after so many milliseconds */
export function inTime<Result>(run: () => Result, time: number): Result {
  place ??= createContext();
  place.run = run;
  try {
    return RUN.runInContext(place, { timeout: time, displayErrors: false });
  } catch (error) {
    throw (error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? new NotEnded(time) : error;
  }
}

export class NotEnded extends Error {
  override name = 'NotEnded';

  constructor(time: number) {
    super(`it has not ended in ${time} ms`);
  }
}
