/** The files that join the parts of a service: its types, which the engine's types read from `Register`, and its one value. */
import type { ReadContract } from '../engine/contract/contract.ts';
import { OperatorError } from '../operator-error.ts';
import { joined, type Source, source } from './source-text.ts';

/** The part of package.json that a service has. */
export interface Package {
  name?: string;
  version?: string;
}

export function buildRegister(): Source {
  return source`import type * as services from '../services.ts';
import type * as tokens from '../tokens.ts';
import type * as contract from './contract.ts';
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
    services: services.Services;
    claims: tokens.Claims;
  }
}
`;
}

/** Fits a key, a file, and an application_name of PostgreSQL, which has at most 63 bytes. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;

/** @throws OperatorError if the name of the package is none for keys and files */
export function buildService({ operations }: ReadContract, { name = '', version = '' }: Package): Source {
  const plain = name.replace(/^@[^/]*\//, '');
  if (!NAME.test(plain))
    throw new OperatorError(
      `package.json: the name ${JSON.stringify(name)} must have at most 40 lowercase letters, digits, dots, underscores and hyphens: keys and files have it.`,
    );
  const needed = [...operations.values()].flatMap(({ security }) => security.flatMap(({ scopes }) => scopes));
  const scopes = [...new Set(needed)].map((scope) => source`${scope}`);
  return source`import { toErrorBody } from '../errors.ts';
import type { Service } from 'contract-first/run';
import { buildServices, settings } from '../services.ts';
import { verifyToken } from '../tokens.ts';
import { domain } from './domain.ts';
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
  settings,
  buildServices,
  verifyToken,
  loadPlugins: () => import('../plugins.ts'),
} satisfies Service;
`;
}
