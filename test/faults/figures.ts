/** What a fault test measured: a line each in the table that `npm run test:faults` prints at its end. */
import { appendFileSync, readFileSync } from 'node:fs';

/** `figures` in words, such as `300 of 300 descriptors back after 2.1 s`. */
export function addFigures(fault: string, figures: string): void {
  const file = process.env.FAULT_FIGURES;
  if (file) appendFileSync(file, `${fault}\t${figures}\n`);
}

/** How long each process has had a processor so far, in milliseconds: beside other load, a second of the clock takes longer. */
export function usedBy(pids: number[]): number[] {
  return pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ');
    return 10 * (Number(fields[13]) + Number(fields[14]));
  });
}
