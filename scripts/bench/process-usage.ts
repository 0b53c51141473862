/** Reads the processor time and memory of a process and its children, from Linux's `/proc` (man 5 proc); NaN elsewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Linux reports processor time to programs in hundredths of a second. */
export const TICKS_PER_SECOND = 100;

/** Processor time in milliseconds. */
export function cpuTime(pid: number): number {
  return sum(pid, (member) => {
    // The second field may hold blanks, and ends in the last bracket. utime is field 14, stime field 15.
    const fields = readFileSync(`/proc/${member}/stat`, 'utf8').split(') ').at(-1)?.split(' ') as string[];
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  });
}

/** Memory in megabytes: resident now, or at its peak. */
export function memory(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return sum(pid, (member) => {
    const status = readFileSync(`/proc/${member}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  });
}

function sum(pid: number, used: (member: number) => number): number {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  return family(pid).reduce((total, member) => total + used(member), 0);
}

/** The process and all its descendants. */
function family(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap(
    (thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').match(/\d+/g) ?? [],
  );
  return [pid, ...children.flatMap((child) => family(Number(child)))];
}
