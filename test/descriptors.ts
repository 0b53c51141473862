/** The descriptors that a process has open. */
import type { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** How long a process may take until connections that have ended leave nothing behind, in milliseconds. */
const LONGEST = 60_000;

export const descriptorsOf = ({ pid }: ChildProcess): number => readdirSync(`/proc/${pid}/fd`).length;

/** Waits until it has no more of them than that, and returns how many it has then, or after a minute. */
export async function untilDescriptors(child: ChildProcess, most: number): Promise<number> {
  for (const until = performance.now() + LONGEST; descriptorsOf(child) > most && performance.now() < until; )
    await wait(50);
  return descriptorsOf(child);
}
