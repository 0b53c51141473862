/** Time by the processor that processes have had: beside other load, and on a machine that pauses, a second takes longer. */
import { readFileSync } from 'node:fs';

/** How long each has had a processor so far, in milliseconds. */
export function usedBy(pids: number[]): number[] {
  return pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ');
    return 10 * (Number(fields[13]) + Number(fields[14]));
  });
}
