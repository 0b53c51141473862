// Made from openapi/petstore.yaml by contract-first 1.0.0: `npm run generate`. Never edited.

import { loadServiceCodecs } from 'contract-first/contract';
import { domain } from './domain.ts';

export const contract = new URL('../../openapi/petstore.yaml', import.meta.url);
export const transactions = { all: {}, source: import.meta.url };
export const loadCodecs = () => loadServiceCodecs(contract, domain);
