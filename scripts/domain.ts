/** Where the domain is: each folder below `src/` with a `domain.ts` is a collection, whose name is what it exports. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { ContractError } from '../src/engine/contract/contract.ts';

/** @throws ContractError where there is none, or one exports something else */
export function buildDomain(source: URL): string {
  const folders = readdirSync(source).filter(
    (name) => name !== 'generated' && existsSync(new URL(`${name}/domain.ts`, source)),
  );
  if (folders.length === 0)
    throw new ContractError(['a folder below src/ has a domain.ts, which says what is kept; there is none']);
  const names = folders.map((folder) => nameIn(folder, readFileSync(new URL(`${folder}/domain.ts`, source), 'utf8')));
  const imports = folders.map((folder, index) => `import { ${names[index]} } from '../${folder}/domain.ts';\n`);
  const errors = names.map((name) => `...${name}.errors`);
  return `${imports.join('')}
export const domain = { ${names.join(', ')} };
export const errors = { ${errors.join(', ')} };
`;
}

function nameIn(folder: string, text: string): string {
  const [first, ...others] = [...text.matchAll(/^export const (\w+)/gm)].map(([, name]) => name as string);
  if (first === undefined || others.length > 0)
    throw new ContractError([`src/${folder}/domain.ts exports one constant, the description of a collection`]);
  return first;
}
