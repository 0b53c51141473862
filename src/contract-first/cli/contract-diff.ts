/**
 * Compares the contract with its newest release, says for each change whether it breaks clients, and fails if the version does not fit:
 * `npm run contract:diff`, or with `-- <contract> <folder of the releases>` for others.
 */
import { toPrintableLines } from '../json/literals.ts';
import { judgeContract, toFiles } from './contract-diff/gate.ts';
import { toReport } from './contract-diff/report.ts';
import { loadOwnParts } from './own-parts.ts';

try {
  const judgement = judgeContract(...toFiles(process.argv.slice(2)), (await loadOwnParts()).domain);
  console.log(toReport(judgement));
  process.exitCode = Number(judgement.problems.length > 0);
} catch (error) {
  console.error(toPrintableLines((error as Error).message));
  process.exitCode = 1;
}
