/** Runs a team's function with a timeout: if it did not end, all writes after it would wait for ever. */
import { type Context, createContext, Script } from 'node:vm';

const RUN = new Script('run()');
let context: Context | undefined;

/** Runs the function. It cannot catch the timeout. @throws NotEnded after `time` milliseconds */
export function inTime<Result>(run: () => Result, time: number): Result {
  context ??= createContext();
  context.run = run;
  try {
    return RUN.runInContext(context, { timeout: time, displayErrors: false });
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
