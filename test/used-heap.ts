/** Measures the memory of objects, without garbage. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Frees all objects that nobody refers to. */
export const collect: () => void = runInNewContext('gc');

/** Returns the used memory in bytes, after a garbage collection. */
export function usedHeap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
