/** Where the domain is: the one folder below `src/` that has a `domain.ts`. */
import { existsSync, readdirSync } from 'node:fs';
import { ContractError } from '../src/engine/contract/contract.ts';

/** @throws ContractError where there is none, or more than one */
export function buildDomain(source: URL): string {
  const folders = readdirSync(source).filter(
    (name) => name !== 'generated' && existsSync(new URL(`${name}/domain.ts`, source)),
  );
  const [folder] = folders;
  if (folder === undefined || folders.length > 1) {
    const found = folders.map((name) => `src/${name}/domain.ts`).join(' and ') || 'none';
    throw new ContractError([`one folder below src/ has a domain.ts, which says what is kept; there is ${found}`]);
  }
  return `export { domain } from '../${folder}/domain.ts';\n`;
}
