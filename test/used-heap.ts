/** How much memory objects take, without what nobody refers to any more. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Frees all objects that nobody refers to. */
export const collect: () => void = runInNewContext('gc');

/** In bytes, after a collection. */
export function usedHeap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
