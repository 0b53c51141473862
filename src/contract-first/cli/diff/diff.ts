/**
 * The commands `diff` and `release`. `diff` compares the contract with its newest release, prints for each change
 * whether it breaks clients, and fails if the new version number does not fit. `release` saves the contract as a
 * release, unless the lint or the comparison finds an error, or a release of this version exists.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readSource } from '../../contract/read/source.ts';
import { toPrintable, toPrintableLines } from '../../json/literals.ts';
import { loadTeamParts } from '../team-parts.ts';
import { type Comparison, filesToCompare, judgeContract, renderComparison } from './gate.ts';

const HEADER = `# Changes of the contract

Written by \`contract-first release\`, the newest first.
`;

/**
 * Saves the contract as a release, and adds its changes to the CHANGELOG.md next to the folder of releases. Returns the
 * path of the release.
 * @throws Error with the reason if the contract may not be released
 */
export async function release(contract: string, folder: string): Promise<string> {
  const judgement = await judgeContract(contract, folder, (await loadTeamParts()).domain);
  const target = resolve(folder, `${judgement.version}.yaml`);
  if (existsSync(target)) throw new Error(`${judgement.version} is released already: info.version must be higher.`);
  const { lint } = await import('../lint/lint.ts');
  const { text, hasErrors } = await lint([contract], { isRelease: true });
  if (hasErrors) throw new Error(text);
  if (judgement.problems.length > 0) throw new Error(renderComparison(judgement));
  mkdirSync(folder, { recursive: true });
  // If the contract is in several files, `readSource` returns their bundle.
  writeFileSync(target, (await readSource(contract)).yaml, { flag: 'wx' });
  const changelog = resolve(folder, '../CHANGELOG.md');
  const earlier = existsSync(changelog) ? readFileSync(changelog, 'utf8').slice(HEADER.length) : '';
  writeFileSync(changelog, HEADER + toEntry(judgement) + earlier);
  return target;
}

function toEntry({ version, released, changes }: Comparison): string {
  const lines = changes.map(({ effect, location, what }) => toPrintable(`- ${effect.verdict}: ${location}: ${what}`));
  return `\n## ${version}\n\n${released ? lines.join('\n') : 'The first release.'}\n`;
}

/**
 * Makes a command that prints its result and returns the exit code. The arguments of the command are a contract and the
 * folder of releases. Without arguments, the command uses those of the service.
 */
const printing =
  (work: (contract: string, folder: string) => Promise<[text: string, code: number]>) =>
  async (args: string[]): Promise<number> => {
    try {
      const [text, code] = await work(...filesToCompare(args));
      console.log(text);
      return code;
    } catch (error) {
      console.error(toPrintableLines((error as Error).message));
      return 1;
    }
  };

export const runDiff = printing(async (contract, folder) => {
  const judgement = await judgeContract(contract, folder, (await loadTeamParts()).domain);
  return [renderComparison(judgement), Number(judgement.problems.length > 0)];
});

export const runRelease = printing(async (contract, folder) => [`Released: ${await release(contract, folder)}`, 0]);
