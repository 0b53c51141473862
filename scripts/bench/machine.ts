/** The machine that figures are measured on: its cores, who uses them, and how it is described. */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { cpus, release, type } from 'node:os';

/** Servers and load generator are kept off each other's core. */
const CORES = { server: '0', load: '1' };
export type Core = keyof typeof CORES;

/** Whether `taskset` can do that (Linux, with two cores or more). This process only waits while the others work. */
const isPinned = spawnSync('taskset', ['-acp', CORES.load, String(process.pid)]).status === 0;

/** The command, on its core. */
export const toCommand = (core: Core, [command = '', ...args]: string[]): [command: string, args: string[]] =>
  isPinned ? ['taskset', ['-c', CORES[core], command, ...args]] : [command, args];

/** Processor time of a process, its threads and its children, in milliseconds, from `/proc` (man 5 proc); NaN elsewhere. */
export function cpuTime(pid: number): number {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
  return [pid, ...children].reduce<number>((total, one) => {
    // The second field may hold blanks, and ends in the last bracket. Fields 14 to 17 are its own time and that of children that ended.
    const fields = readFileSync(`/proc/${one}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    // In hundredths of a second.
    return total + fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
  }, 0);
}

/** Processor time of all programs, in milliseconds; NaN where there is no `/proc/stat`. */
export function machineTime(): number {
  if (!existsSync('/proc/stat')) return Number.NaN;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] =
    readFileSync('/proc/stat', 'utf8').match(/\d+/g)?.map(Number) ?? [];
  return (user + nice + system + irq + softIrq) * 10;
}

export function describeMachine(directory: string): string {
  const date = new Date().toISOString().slice(0, 10);
  const system = `${type()} ${release().split('.', 2).join('.')}`;
  const place = isPinned ? 'server and load generator on a core each' : 'server and load generator not pinned to cores';
  const fsync = measureFsync(`${directory}/fsync`).toFixed(2);
  return `${date}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${system}, Node ${process.version}, ${place}, one fsync ${fsync} ms.`;
}

/** How long the disk takes to make 4 KiB durable, in milliseconds: the mean of a hundred writes. */
function measureFsync(path: string): number {
  const file = openSync(path, 'w');
  const begin = performance.now();
  for (let n = 0; n < 100; n++) {
    writeSync(file, Buffer.alloc(4096));
    fsyncSync(file);
  }
  closeSync(file);
  return (performance.now() - begin) / 100;
}
