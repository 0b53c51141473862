/** Who has noticed each mutant: what its behaviour has shown, and for one that behaves as before, what its text tells. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { compareContracts } from '../../scripts/contract-diff/contracts.ts';
import { lintByRedocly } from '../../scripts/contract-lint/redocly.ts';
import type { Json } from '../../src/contract/contract.ts';
import type { Verdict } from './judge.ts';
import type { Mutant } from './mutants.ts';

export interface Row {
  mutant: Mutant;
  by: Exclude<Verdict['by'], 'ignored' | 'unseen'> | 'lint' | 'diff' | 'nobody';
  why: string;
}

/** In the order of the mutants, which is that of their verdicts. */
export async function toRows(contract: Json, mutants: Mutant[], verdicts: Verdict[]): Promise<Row[]> {
  const unseen = mutants.filter((_, index) => verdicts[index]?.by === 'unseen');
  const told = new Map((await readTexts(contract, unseen)).map((row) => [row.mutant, row]));
  return mutants.map((mutant, index) => {
    const { by, why } = verdicts[index] as Verdict;
    if (by === 'unseen') return told.get(mutant) as Row;
    return { mutant, by: by === 'ignored' ? 'nobody' : by, why };
  });
}

/** The lint first; then the comparison with the contract as it was. */
async function readTexts(contract: Json, mutants: Mutant[]): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'contract-mutate-'));
  const texts = mutants.map((mutant) => stringify(mutant.build()));
  const files = texts.map((text, index) => {
    const file = join(folder, `mutant-${index}.yaml`);
    writeFileSync(file, text);
    return file;
  });
  const report = await lintByRedocly(...files);
  rmSync(folder, { recursive: true });

  const before = stringify(contract);
  const today = new Date().toISOString().slice(0, 10);
  return mutants.map((mutant, index): Row => {
    const [, problem] = new RegExp(`mutant-${index}\\.yaml.*\n(.*)`).exec(report) ?? [];
    if (problem !== undefined) return { mutant, by: 'lint', why: problem.trim() };
    const [change] = compareContracts(before, texts[index] as string, today);
    if (!change) return { mutant, by: 'nobody', why: 'nothing is different anywhere' };
    return { mutant, by: 'diff', why: `${change.effect.verdict}: ${change.place}: ${change.what}` };
  });
}
