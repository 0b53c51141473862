/** Measures the memory that live objects use. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Runs a garbage collection. */
export const collect: () => void = runInNewContext('gc');

/** Returns the used memory in bytes, after a garbage collection. */
export function usedHeap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
