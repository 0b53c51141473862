/**
 * The files that join the parts of a service. Each folder below `src/` with a `domain.ts` is a collection, under the name of its export; a
 * `transactions.ts` beside it exports its transactions.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { ContractError, type ReadContract } from '../engine/contract/contract.ts';
import { OperatorError } from '../operator-error.ts';
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
  return source`import { loadCodecs as load } from 'contract-first/contract';
${imports}import { domain } from './domain.ts';

export const contract = new URL(${`../../${contract}`}, import.meta.url);
export const transactions = { all: ${toObject(names)}, source: import.meta.url };
export const loadCodecs = () => load(contract, domain);
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

/** The part of package.json that a service has. */
interface Package {
  name?: string;
  version?: string;
}

/** The files of a team that are absent until it needs them. */
export const OPTIONAL = ['errors', 'services', 'tokens', 'plugins'] as const;
type Optional = (typeof OPTIONAL)[number];

/** Returns the line only if the file is there. */
const buildIf = (present: readonly Optional[]) => (name: Optional, line: Source) =>
  present.includes(name) ? line : source`${[]}`;

/** The types, which those of the engine read from `Register`. */
export function buildRegister(present: readonly Optional[]): Source {
  const only = buildIf(present);
  return source`${only('services', source`import type * as services from '../services.ts';\n`)}${only('tokens', source`import type * as tokens from '../tokens.ts';\n`)}import type * as contract from './contract.ts';
import type * as collections from './domain.ts';
import type * as writing from './writing.ts';

declare module 'contract-first' {
  interface Register {
    operations: contract.operations;
    open: contract.OpenOperation;
    components: contract.components;
    domain: typeof collections.domain;
    errors: typeof collections.errors;
    transactions: (typeof writing.transactions)['all'];
${only('services', source`    services: services.Services;\n`)}${only('tokens', source`    claims: tokens.Claims;\n`)}  }
}
`;
}

/** The handlers by their operations. */
export function buildHandlersMap({ operations }: ReadContract): Source {
  const ids = [...operations.keys()];
  // Some operationIds are not valid as variables: `delete`, `find-book`. None has a `$`.
  const nameOf = (id: string) => named(`${id.replaceAll('-', '$')}Handler`);
  return source`${ids.map((id) => source`import ${nameOf(id)} from '../../handlers/${named(id)}.ts';\n`)}import type { Handler, OperationId } from 'contract-first';

export const handlers = {
${ids.map((id) => source`  ${id.includes('-') ? id : named(id)}: ${nameOf(id)},\n`)}} satisfies { [Id in OperationId]: Handler<Id> };
`;
}

/** Fits a key, a file, and an application_name of PostgreSQL, which has at most 63 bytes. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;

/** The service's name: that of its package, `@acme/books`, without the scope. */
export const withoutScope = (name: string): string => name.replace(/^@[^/]*\//, '');

/** The one value that the program passes to `run`. @throws OperatorError if the name of the package is none for keys and files */
export function buildService(
  { operations }: ReadContract,
  { name = '', version = '' }: Package,
  present: readonly Optional[],
): Source {
  const only = buildIf(present);
  const plain = withoutScope(name);
  if (!NAME.test(plain))
    throw new OperatorError(
      `package.json: the name ${JSON.stringify(name)} must have at most 40 lowercase letters, digits, dots, underscores and hyphens: keys and files have it.`,
    );
  const needed = [...operations.values()].flatMap(({ security }) => security.flatMap(({ scopes }) => scopes));
  const scopes = [...new Set(needed)].map((scope) => source`${scope}`);
  const errors = present.includes('errors') ? source`../errors.ts` : source`contract-first`;
  return source`import { toErrorBody } from '${errors}';
import type { Service } from 'contract-first/run';
${only('services', source`import { buildServices, settings } from '../services.ts';\n`)}${only('tokens', source`import { verifyToken } from '../tokens.ts';\n`)}import { domain } from './domain.ts';
import { handlers } from './handlers.ts';
import { contract, transactions } from './writing.ts';

export const service = {
  name: ${plain},
  version: ${version},
  contract,
  scopes: [${joined(scopes, ', ')}] as readonly string[],
  domain,
  handlers,
  transactions,
  toErrorBody,
${only('services', source`  settings,\n  buildServices,\n`)}${only('tokens', source`  verifyToken,\n`)}${only('plugins', source`  loadPlugins: () => import('../plugins.ts'),\n`)}} satisfies Service;
`;
}
