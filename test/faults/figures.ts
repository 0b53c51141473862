/** What a fault test measured: a line each in the table that `npm run test:faults` prints at its end. */
import { appendFileSync } from 'node:fs';

/** `figures` in words, such as `300 of 300 descriptors back after 2.1 s`. */
export function addFigures(fault: string, figures: string): void {
  const file = process.env.FAULT_FIGURES;
  if (file) appendFileSync(file, `${fault}\t${figures}\n`);
}
