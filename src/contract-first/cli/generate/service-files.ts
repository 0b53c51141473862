/**
 * Writes the files that connect the contract, the collections and the handlers of a service. Every folder in `src/`
 * with a `domain.ts` is a collection. The name of the collection is the name that `domain.ts` exports. A file
 * `transactions.ts` in the same folder exports the transactions of the collection.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { ContractError, type ReadContract } from '../../engine/contract/contract.ts';
import { OperatorError } from '../../operator-error.ts';
import { OWN_PACKAGE } from '../tools.ts';
import { type CheckedCode, checkedName, code, joined } from './source-text.ts';

/** Returns the first line of each generated file. */
export const GENERATED_HEADER = (contract: string) =>
  `// Made from ${contract} by contract-first ${OWN_PACKAGE.version}: \`npm run generate\`. Never edited.\n\n`;

/**
 * Writes `domain.ts`, with all collections of the folder. @throws ContractError if a collection's `domain.ts` does not
 * export one constant
 */
export function buildDomain(folder: URL): CheckedCode {
  const collections = findCollections(folder);
  const names = collections.map(({ name }) => checkedName(name));
  const imports = collections.map(
    (one) => code`import { ${checkedName(one.name)} } from '../${checkedName(one.folder)}/domain.ts';\n`,
  );
  const hasTransactions = collections.some((one) => one.hasTransactions);
  // A service without collections does not use `MissingErrors`, which would be a compile error, because only
  // collections can declare the error codes of the contract.
  const [type, demand] = names.length > 0 ? [code`, type MissingErrors`, code` satisfies MissingErrors`] : [[], []];
  return code`import { addErrors${type} } from 'contract-first';
${hasTransactions ? code`import { readingOf, transactionOf } from 'contract-first/store';\n` : []}${imports}
export const domain = ${toObject(names)};
export const errors = addErrors(${toObject(names.map((name) => code`...${name}.errors`))}${demand});
${hasTransactions ? TRANSACTION : []}`;
}

const TRANSACTION = code`export const transaction = transactionOf<typeof domain>();
export const reading = readingOf<typeof domain>();
`;

/**
 * Writes `writing.ts`, with the location of the contract and the transactions of all collections. The writing thread
 * also loads this file.
 */
export function buildWriting(folder: URL, contract: string): CheckedCode {
  const found = findCollections(folder).filter(({ hasTransactions }) => hasTransactions);
  const imports = found.map(
    (one) => code`import * as ${checkedName(one.name)} from '../${checkedName(one.folder)}/transactions.ts';\n`,
  );
  const names = found.map(({ name }) => checkedName(name));
  return code`import { loadServiceCodecs } from 'contract-first/contract';
${imports}import { domain } from './domain.ts';

export const contract = new URL(${`../../${contract}`}, import.meta.url);
export const transactions = { all: ${toObject(names)}, source: import.meta.url };
export const loadCodecs = () => loadServiceCodecs(contract, domain);
`;
}

const toObject = (parts: CheckedCode[]) => (parts.length > 0 ? code`{ ${joined(parts, ', ')} }` : code`{}`);

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

/** The fields of package.json that are used for a service. */
interface Package {
  name?: string;
  version?: string;
}

/** The names of the optional files in `src/`. */
export const OPTIONAL = ['errors', 'services', 'tokens', 'plugins'] as const;
type Optional = (typeof OPTIONAL)[number];

/** Builds a function that returns `line` if the optional file exists, and otherwise empty code. */
const buildIf = (present: readonly Optional[]) => (name: Optional, line: CheckedCode) =>
  present.includes(name) ? line : code`${[]}`;

/**
 * Writes `register.ts`, which adds the types of the service to the interface `Register`. The engine's types read them
 * there.
 */
export function buildRegister({ operations }: ReadContract, present: readonly Optional[]): CheckedCode {
  const only = buildIf(present);
  const byToken = [...operations].flatMap(([id, { security }]) =>
    security.length > 0 && security.every(({ location }) => location.isToken) ? code`${id}` : [],
  );
  return code`${only('services', code`import type * as services from '../services.ts';\n`)}${only('tokens', code`import type * as tokens from '../tokens.ts';\n`)}import type * as contract from './contract.ts';
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
${only('services', code`    services: services.Services;\n`)}${only('tokens', code`    claims: tokens.Claims;\n    byToken: ${byToken.length > 0 ? joined(byToken, ' | ') : code`never`};\n`)}  }
}
`;
}

/** Writes `handlers.ts`, the handlers by operation. */
export function buildHandlersMap({ operations }: ReadContract): CheckedCode {
  const ids = [...operations.keys()];
  // The name of the variable for a handler. An operationId, such as `delete` or `find-book`, may not be a valid name
  // for a variable. Every `-` becomes a `$`, which operationIds never contain, so that different ids give different
  // names.
  const nameOf = (id: string) => checkedName(`${id.replaceAll('-', '$')}Handler`);
  return code`${ids.map((id) => code`import ${nameOf(id)} from '../../handlers/${checkedName(id)}.ts';\n`)}import type { Handler, OperationId } from 'contract-first';

export const handlers = {
${ids.map((id) => code`  ${id.includes('-') ? id : checkedName(id)}: ${nameOf(id)},\n`)}} satisfies { [Id in OperationId]: Handler<Id> };
`;
}

/**
 * Matches a service name that can be part of keys and file names, and of PostgreSQL's application_name, which is
 * limited to 63 bytes.
 */
const SERVICE_NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;

/** Returns the name of the service: its package's name without the scope, such as `books` for `@acme/books`. */
export const withoutScope = (name: string): string => name.replace(/^@[^/]*\//, '');

/** Finds the reason why the name of a package cannot be used for keys and files. */
export function findNameProblem(name: string): string | undefined {
  if (SERVICE_NAME.test(withoutScope(name))) return undefined;
  return `package.json: the name ${JSON.stringify(name)} must have at most 40 lowercase letters, digits, dots, underscores and hyphens: keys and files have it.`;
}

/**
 * Writes `service.ts`, with the value that `main.ts` passes to `run`. @throws OperatorError if keys and files cannot
 * take the package's name
 */
export function buildService(
  { operations }: ReadContract,
  { name = '', version = '' }: Package,
  present: readonly Optional[],
): CheckedCode {
  const only = buildIf(present);
  const plain = withoutScope(name);
  const problem = findNameProblem(name);
  if (problem) throw new OperatorError(problem);
  const needed = [...operations.values()].flatMap(({ security }) => security.flatMap(({ scopes }) => scopes));
  const scopes = [...new Set(needed)].map((scope) => code`${scope}`);
  const errors = present.includes('errors') ? code`../errors.ts` : code`contract-first`;
  return code`import { toErrorBody } from '${errors}';
import type { Service } from 'contract-first/run';
${only('services', code`import { buildServices, settings } from '../services.ts';\n`)}${only('tokens', code`import { verifyToken } from '../tokens.ts';\n`)}import { domain } from './domain.ts';
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
${only('services', code`  settings,\n  buildServices,\n`)}${only('tokens', code`  verifyToken,\n`)}${only('plugins', code`  loadPlugins: () => import('../plugins.ts'),\n`)}} satisfies Service;
`;
}
