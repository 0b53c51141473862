/**
 * Saves the contract as a release: `npm run contract:release`, or with `-- <contract> <folder of the
 * releases>` others. A contract that the lint or the comparison refuses is not released, nor is a version twice.
 */
import { constants, copyFileSync, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judgeContract, toFiles } from './contract-diff/gate.ts';
import { toReport } from './contract-diff/report.ts';
import { lint } from './contract-lint.ts';

/** @throws Error that says why the contract is not released */
export async function release(contract: string, folder: string): Promise<string> {
  const judgement = judgeContract(contract, folder);
  const target = resolve(folder, `${judgement.version}.yaml`);
  if (existsSync(target)) throw new Error(`${judgement.version} is released already: info.version must be higher.`);
  const broken = await lint(contract);
  if (broken) throw new Error(broken);
  if (judgement.problems.length > 0) throw new Error(toReport(judgement));
  copyFileSync(contract, target, constants.COPYFILE_EXCL);
  return target;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(`Released: ${await release(...toFiles(process.argv.slice(2)))}`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
