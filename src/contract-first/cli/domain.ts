/**
 * Finds the domain: each folder below `src/` with a `domain.ts` is a collection, under the name of its export; a `transactions.ts` beside
 * it exports its transactions.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { ContractError } from '../engine/contract/contract.ts';
import { joined, named, type Source, source } from './source-text.ts';
import { OWN } from './tools.ts';

/** The first line of each generated file. */
export const toHeader = (contract: string) =>
  `// Made from ${contract} by contract-first ${OWN.version}: \`npm run generate\`. Never edited.\n\n`;

/** Finds the collections; there may be none. @throws ContractError if a `domain.ts` exports anything else */
export function buildDomain(folder: URL): Source {
  const collections = findCollections(folder);
  const names = collections.map(({ name }) => named(name));
  const imports = collections.map(
    (one) => source`import { ${named(one.name)} } from '../${named(one.folder)}/domain.ts';\n`,
  );
  const hasTransactions = collections.some((one) => one.hasTransactions);
  // A service without collections cannot declare the contract's codes yet.
  const [type, demand] = names.length > 0 ? [source`, type MissingErrors`, source` satisfies MissingErrors`] : [[], []];
  return source`import { addErrors${type} } from 'contract-first';
${hasTransactions ? source`import { readingOf, transactionOf } from 'contract-first/store';\n` : []}${imports}
export const domain = ${toObject(names)};
export const errors = addErrors(${toObject(names.map((name) => source`...${name}.errors`))}${demand});
${hasTransactions ? TRANSACTION : []}`;
}

const TRANSACTION = source`export const transaction = transactionOf<typeof domain>();
export const reading = readingOf<typeof domain>();
`;

/** The parts that the writing thread loads, too: the contract, and the transactions in the `transactions.ts` beside a `domain.ts`. */
export function buildWriting(folder: URL, contract: string): Source {
  const found = findCollections(folder).filter(({ hasTransactions }) => hasTransactions);
  const imports = found.map(
    (one) => source`import * as ${named(one.name)} from '../${named(one.folder)}/transactions.ts';\n`,
  );
  const names = found.map(({ name }) => named(name));
  return source`import { loadShapes as load } from 'contract-first/contract';
${imports}import { domain } from './domain.ts';

export const contract = new URL(${`../../${contract}`}, import.meta.url);
export const transactions = { all: ${toObject(names)}, source: import.meta.url };
export const loadShapes = () => load(contract, domain);
`;
}

const toObject = (parts: Source[]) => (parts.length > 0 ? source`{ ${joined(parts, ', ')} }` : source`{}`);

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
