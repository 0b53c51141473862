/** The files that join the parts of a service: its types, which the engine's types read from `Register`, and its one value. */
import type { ReadContract } from '../engine/contract/contract.ts';
import { OperatorError } from '../operator-error.ts';
import { joined, type Source, source } from './source-text.ts';

/** The part of package.json that a service has. */
export interface Package {
  name?: string;
  version?: string;
}

/** The files of a team that are absent until it needs them. */
export const OPTIONAL = ['errors', 'services', 'tokens', 'plugins'] as const;
export type Optional = (typeof OPTIONAL)[number];

/** Returns the line only if the file is there. */
const buildIf = (present: readonly Optional[]) => (name: Optional, line: Source) =>
  present.includes(name) ? line : source`${[]}`;

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

/** Fits a key, a file, and an application_name of PostgreSQL, which has at most 63 bytes. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;

/** The service's name: that of its package, `@acme/books`, without the scope. */
export const withoutScope = (name: string): string => name.replace(/^@[^/]*\//, '');

/** @throws OperatorError if the name of the package is none for keys and files */
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
