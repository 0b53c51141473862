/**
 * Finds the domain: each folder below `src/` with a `domain.ts` is a collection, under the name of its export; a `transactions.ts` beside
 * it exports its transactions.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { ContractError } from '../src/engine/contract/contract.ts';

/** The first line of each generated file. */
export const HEADER = '// Made from openapi/petstore.yaml by `npm run generate`. Never edited.\n\n';

/** Finds the collections; there may be none. @throws ContractError if a `domain.ts` exports anything else */
export function buildDomain(source: URL): string {
  const collections = findCollections(source);
  const names = collections.map(({ name }) => name);
  const imports = collections.map(({ folder, name }) => `import { ${name} } from '../${folder}/domain.ts';\n`);
  const errors = names.map((name) => `...${name}.errors`);
  const hasTransactions = collections.some((one) => one.hasTransactions);
  return `import { addErrors, type MissingErrors } from '../engine/errors.ts';
${hasTransactions ? "import { readingOf, transactionOf } from '#store';\n" : ''}${imports.join('')}
export const domain = ${toObject(names)};
export const errors = addErrors(${toObject(errors)} satisfies MissingErrors);
${hasTransactions ? 'export const transaction = transactionOf<typeof domain>();\nexport const reading = readingOf<typeof domain>();\n' : ''}`;
}

/** The parts that the writing thread loads, too: the contract, and the transactions in the `transactions.ts` beside a `domain.ts`. */
export function buildWriting(source: URL, contract: string): string {
  const found = findCollections(source).filter(({ hasTransactions }) => hasTransactions);
  const imports = found.map(({ folder, name }) => `import * as ${name} from '../${folder}/transactions.ts';\n`);
  const names = found.map(({ name }) => name);
  return `import { loadShapes as load } from '../own-contract.ts';
${imports.join('')}import { domain } from './domain.ts';

export const contract = new URL('../../${contract}', import.meta.url);
export const transactions = { all: ${toObject(names)}, source: import.meta.url };
export const loadShapes = () => load(contract, domain);
`;
}

const toObject = (parts: string[]) => (parts.length > 0 ? `{ ${parts.join(', ')} }` : '{}');

function findCollections(source: URL): { folder: string; name: string; hasTransactions: boolean }[] {
  const isThere = (path: string) => existsSync(new URL(path, source));
  const folders = readdirSync(source).filter((name) => name !== 'generated' && isThere(`${name}/domain.ts`));
  return folders.map((folder) => ({
    folder,
    name: nameIn(folder, readFileSync(new URL(`${folder}/domain.ts`, source), 'utf8')),
    hasTransactions: isThere(`${folder}/transactions.ts`),
  }));
}

function nameIn(folder: string, text: string): string {
  const [first, ...others] = [...text.matchAll(/^export const (\w+)/gm)].map(([, name]) => name as string);
  if (first === undefined || others.length > 0)
    throw new ContractError([`src/${folder}/domain.ts exports one constant, the description of a collection`]);
  return first;
}
