/** Who has noticed each mutant, as a table. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { compareContracts } from '../../src/contract-first/cli/contract-diff/contracts.ts';
import { lint } from '../../src/contract-first/cli/contract-lint.ts';
import type { Json } from '../any-json.ts';
import type { Verdict } from './judge.ts';
import type { Mutant } from './mutants.ts';

const MEANING = {
  follows: 'the server does what the contract says now',
  start: 'the server, or npm run generate, refuses it',
  compile: 'the code no longer compiles',
  tests: 'the contract documents what no reply does, or allows what fails or is refused by a handler',
  lint: 'the lint of the contract refuses it',
  diff: 'only the comparison with the released contract tells; no request or reply is different',
  breaks: 'the server starts, and what it sends or ignores breaks the contract',
  nobody: 'the server goes by something else than the contract',
};

const read = (yaml: string): Json => parse(yaml, { intAsBigInt: true, merge: true });

export interface Row {
  mutant: Mutant;
  by: keyof typeof MEANING;
  why: string;
}

export const isUnnoticed = ({ by }: Row): boolean => by === 'nobody' || by === 'breaks';

/** In the order of the mutants. Of those that behave as before, lint and comparison read the text. */
export function toRows(contract: Json, mutants: Mutant[], verdicts: Verdict[]): Promise<Row[]> {
  return Promise.all(
    mutants.map(async (mutant, index) => {
      const { by, why } = verdicts[index] as Verdict;
      return by === 'unseen' ? readText(contract, mutant) : { mutant, by, why };
    }),
  );
}

async function readText(contract: Json, mutant: Mutant): Promise<Row> {
  const text = stringify(mutant.build());
  const folder = mkdtempSync(join(tmpdir(), 'contract-mutate-'));
  const file = join(folder, 'mutant.yaml');
  writeFileSync(file, text);
  const problem = await lint(file);
  rmSync(folder, { recursive: true });
  if (problem) return { mutant, by: 'lint', why: problem.trim() };
  const [change] = compareContracts(read(stringify(contract)), read(text), '2026-11-20');
  if (!change) return { mutant, by: 'nobody', why: 'nothing is different anywhere' };
  return { mutant, by: 'diff', why: `${change.effect.verdict}: ${change.place}: ${change.what}` };
}

/** A line for each, the totals, and why those that nobody has noticed should have been. */
export function toReport(rows: Row[]): string {
  const table = rows.map(({ mutant: { place, edit }, by }) => `${by.padEnd(8)}${place}  ${edit}`);
  const totals = Object.entries(MEANING).map(([by, meaning]) => {
    const count = rows.filter((row) => row.by === by).length;
    return `${String(count).padStart(5)}  ${by.padEnd(8)} ${meaning}`;
  });
  const survivors = rows.filter(isUnnoticed).map(({ mutant, why }) => `\n${mutant.place}: ${mutant.edit}\n  ${why}`);
  return [...table, '', `${rows.length} edits of the contract, noticed by:`, ...totals, ...survivors].join('\n');
}
