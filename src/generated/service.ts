// Made from openapi/petstore.yaml by `npm run generate`. Never edited.

import { toErrorBody } from '../engine/index.ts';
import type { Service } from '../service.ts';
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
