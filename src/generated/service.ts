// Made from openapi/petstore.yaml by contract-first 1.0.0: `npm run generate`. Never edited.

import { toErrorBody } from 'contract-first';
import type { Service } from 'contract-first/run';
import { domain } from './domain.ts';
import { handlers } from './handlers.ts';
import { contract, transactions } from './writing.ts';

export const service = {
  name: 'petstore',
  version: '1.0.0',
  contract,
  scopes: ['pets:read', 'pets:write'] as readonly string[],
  domain,
  handlers,
  transactions,
  toErrorBody,
} satisfies Service;
