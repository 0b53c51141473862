/** The machine that the figures were measured on, in a few words. */
import { spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import { join } from 'node:path';

const FSYNCS = 100;
/** Servers and load generator are kept off each other's core. */
const CORES = { server: '0', load: '1' };

export type Core = keyof typeof CORES;

export interface Machine {
  cpu: string;
  cores: number;
  system: string;
  node: string;
  date: string;
  /** How long the disk takes to make 4 KiB durable, in milliseconds: the mean of a hundred writes. */
  fsync: number;
  /** Whether servers and load generator have a core each. */
  isPinned: boolean;
}

export function describeMachine(directory: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    system: `${type()} ${release().split('.', 2).join('.')}`,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
    fsync: measureFsync(join(directory, 'fsync')),
    // This process only waits while the others work.
    isPinned: spawnSync('taskset', ['-acp', CORES.load, String(process.pid)]).status === 0,
  };
}

export function toSentence({ cpu, cores, system, node, date, fsync, isPinned }: Machine): string {
  const place = isPinned ? 'server and load generator on a core each' : 'server and load generator not pinned to cores';
  return `${date}, ${cpu}, ${cores} cores, ${system}, Node ${node}, ${place}, one fsync ${fsync.toFixed(2)} ms.`;
}

/** The command, on its core where `taskset` can do that (Linux, with two cores or more). */
export function toCommand(
  use: Core,
  [command = '', ...args]: string[],
  isPinned: boolean,
): [command: string, args: string[]] {
  return isPinned ? ['taskset', ['-c', CORES[use], command, ...args]] : [command, args];
}

function measureFsync(path: string): number {
  const file = openSync(path, 'w');
  const page = Buffer.alloc(4096);
  const begin = performance.now();
  for (let n = 0; n < FSYNCS; n++) {
    writeSync(file, page);
    fsyncSync(file);
  }
  closeSync(file);
  return (performance.now() - begin) / FSYNCS;
}
