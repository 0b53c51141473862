/**
 * Saves the contract as a release. One that the lint or the comparison refuses is not released, nor is a version twice.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readSource } from '../contract/read/source.ts';
import { toPrintable, toPrintableLines } from '../json/literals.ts';
import { type Judgement, judgeContract, toFiles } from './contract-diff/gate.ts';
import { toReport } from './contract-diff/report.ts';
import { lint } from './contract-lint.ts';
import { loadOwnParts } from './own-parts.ts';

const HEADER = `# Changes of the contract

Written by \`contract-first release\`, the newest first.
`;

/** Adds the release to the list of all, which stands beside their folder. @throws Error that says why the contract is not released */
export async function release(contract: string, folder: string): Promise<string> {
  const judgement = await judgeContract(contract, folder, (await loadOwnParts()).domain);
  const target = resolve(folder, `${judgement.version}.yaml`);
  if (existsSync(target)) throw new Error(`${judgement.version} is released already: info.version must be higher.`);
  const broken = await lint(contract);
  if (broken) throw new Error(broken);
  if (judgement.problems.length > 0) throw new Error(toReport(judgement));
  mkdirSync(folder, { recursive: true });
  // Of a contract in several files, their bundle.
  writeFileSync(target, (await readSource(contract)).yaml, { flag: 'wx' });
  const changelog = resolve(folder, '../CHANGELOG.md');
  const earlier = existsSync(changelog) ? readFileSync(changelog, 'utf8').slice(HEADER.length) : '';
  writeFileSync(changelog, HEADER + toEntry(judgement) + earlier);
  return target;
}

function toEntry({ version, released, changes }: Judgement): string {
  const lines = changes.map(({ effect, place, what }) => toPrintable(`- ${effect.verdict}: ${place}: ${what}`));
  return `\n## ${version}\n\n${released ? lines.join('\n') : 'The first release.'}\n`;
}

/** The arguments are a contract and the folder of its releases; by default, the service's. Returns the exit code. */
export async function run(args: string[]): Promise<number> {
  try {
    console.log(`Released: ${await release(...toFiles(args))}`);
    return 0;
  } catch (error) {
    console.error(toPrintableLines((error as Error).message));
    return 1;
  }
}
