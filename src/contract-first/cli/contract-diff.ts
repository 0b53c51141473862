/**
 * Compares the contract with its newest release, says for each change whether it breaks clients, and fails if the version does not fit.
 */
import { toPrintableLines } from '../json/literals.ts';
import { type Judgement, judgeContract, toFiles } from './contract-diff/gate.ts';
import { toReport } from './contract-diff/report.ts';
import { loadOwnParts } from './own-parts.ts';

/** The arguments are a contract and the folder of its releases; by default, the service's. Returns the exit code. */
export async function run(args: string[]): Promise<number> {
  let judgement: Judgement;
  try {
    judgement = await judgeContract(...toFiles(args), (await loadOwnParts()).domain);
  } catch (error) {
    console.error(toPrintableLines((error as Error).message));
    return 1;
  }
  console.log(toReport(judgement));
  return Number(judgement.problems.length > 0);
}
