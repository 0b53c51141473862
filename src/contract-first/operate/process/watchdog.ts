/** Notifies systemd that the event loop turns: a process whose event loop hangs answers nobody, and cannot notice by itself. */
import { execFile } from 'node:child_process';

/**
 * Notifies systemd from time to time, if its unit has a `WatchdogSec`. By systemd's own program, since its socket is a datagram socket,
 * which Node lacks.
 */
export function notifySystemd({ WATCHDOG_USEC }: NodeJS.ProcessEnv): NodeJS.Timeout | undefined {
  if (WATCHDOG_USEC === undefined) return undefined;
  const notify = () => execFile('systemd-notify', ['WATCHDOG=1'], () => {});
  return setInterval(notify, Number(WATCHDOG_USEC) / 1000 / 3).unref();
}
