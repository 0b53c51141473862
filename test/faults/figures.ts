/** Records the figures of a fault test. Each is a line in the table that `npm run test:faults` prints when it ends. */
import type { ChildProcess } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';

type Running = { child: ChildProcess };

/** Adds a line with the result of a fault. `figures` is text, such as `300 of 300 descriptors back after 2.1 s`. */
export function addFigures(fault: string, figures: string): void {
  const file = process.env.FAULT_FIGURES;
  if (file) appendFileSync(file, `${fault}\t${figures}\n`);
}

/** Returns the processor time that a process has used, in milliseconds. It does not depend on other load. */
export function usedBy({ child }: Running): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'latin1').split(' ');
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

/** The memory of a process in MiB: what it uses now (VmRSS), or the most that it has used so far (VmHWM). */
export function memoryOf({ child }: Running, which: 'VmRSS' | 'VmHWM'): number {
  const [, kibibytes] = new RegExp(`${which}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kibibytes) / 1024);
}

/** How many files and sockets a process has open. */
export const descriptorsOf = ({ child }: Running): number => readdirSync(`/proc/${child.pid}/fd`).length;
