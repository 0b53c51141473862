/** Checks that no other programs use the machine: figures would mean nothing. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TICKS_PER_SECOND } from './process-usage.ts';

/** How much of a core they may use. */
const MOST = 0.15;
/** How long usage is observed, and how long to wait for a quiet machine, in milliseconds. */
const LOOK = 500;
const QUIET_TIMEOUT = 120_000;

export const isDisturbed = (others: number): boolean => others > MOST;

/** Processor time of all programs, in milliseconds; NaN where there is no `/proc/stat` (man 5 proc). */
export function machineTime(): number {
  if (!existsSync('/proc/stat')) return Number.NaN;
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = line.split(/ +/).slice(1).map(Number);
  return ((user + nice + system + irq + softIrq) * 1000) / TICKS_PER_SECOND;
}

/** @throws Error when other programs do not stop using the machine */
export async function waitForQuiet(): Promise<void> {
  for (const begin = performance.now(); ; ) {
    const [used, since] = [machineTime(), performance.now()];
    await sleep(LOOK);
    const now = performance.now();
    if (!isDisturbed((machineTime() - used) / (now - since))) return;
    if (now - begin > QUIET_TIMEOUT) throw new Error('Other programs use this machine: measure when it is quiet.');
  }
}
