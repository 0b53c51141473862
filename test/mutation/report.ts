/** The table of the mutants, the totals, and why those that nobody has noticed should have been. */
import type { Row } from './rows.ts';

const MEANING: Record<Row['by'], string> = {
  follows: 'the server does what the contract says now',
  start: 'the server refuses to start',
  compile: 'the code no longer compiles',
  tests: 'replies no longer fit the contract',
  lint: 'the lint of the contract refuses it',
  diff: 'only the comparison with the released contract tells; no request or reply is different',
  nobody: 'the server goes by something else than the contract',
};

export function toReport(rows: Row[]): string {
  const width = (lines: string[]) => Math.max(0, ...lines.map((line) => line.length));
  const places = width(rows.map(({ mutant }) => mutant.place));
  const edits = width(rows.map(({ mutant }) => mutant.edit));
  const table = rows.map(({ mutant, by }) => `${mutant.place.padEnd(places)}  ${mutant.edit.padEnd(edits)}  ${by}`);
  const totals = Object.entries(MEANING).map(([by, meaning]) => {
    const count = rows.filter((row) => row.by === by).length;
    return `${String(count).padStart(5)}  ${by.padEnd(8)} ${meaning}`;
  });
  const survivors = rows
    .filter(({ by }) => by === 'nobody')
    .map(({ mutant, why }) => `\n${mutant.place}: ${mutant.edit}\n  ${why}`);
  return [...table, '', `${rows.length} edits of the contract, noticed by:`, ...totals, ...survivors].join('\n');
}
