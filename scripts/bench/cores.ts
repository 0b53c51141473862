/** Keeps servers and load generator off each other's core, where `taskset` can (Linux, with two cores or more). */
import { spawnSync } from 'node:child_process';

const SERVER_CORE = '0';
const LOAD_CORE = '1';

/** Moves this process, the load generator, to its core. False where that cannot be done. */
export function pinLoad(): boolean {
  return spawnSync('taskset', ['-acp', LOAD_CORE, String(process.pid)]).status === 0;
}

/** The command that runs Node with these arguments, on the servers' core if pinned. */
export function toCommand(args: string[], isPinned: boolean): [command: string, args: string[]] {
  return isPinned ? ['taskset', ['-c', SERVER_CORE, process.execPath, ...args]] : [process.execPath, args];
}
