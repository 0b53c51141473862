// Made from openapi/petstore.yaml by contract-first 1.0.0: `npm run generate`. Never edited.

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
  }
}
