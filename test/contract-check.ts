/**
 * The independent check of replies against a contract, by default the checked-in one. For the pet store, it also
 * reports undeclared headers, because the contract declares all of them. For edited contracts, it allows undeclared
 * fields, because some edits remove fields to test that the server still sends them.
 */
import { readFileSync } from 'node:fs';
import { ContractCheck as Check } from '../src/contract-first/testing/contract-check.ts';

export type { CheckedReply } from '../src/contract-first/testing/contract-check.ts';

const OWN = readFileSync(new URL('../openapi/petstore.yaml', import.meta.url), 'utf8');

export class ContractCheck extends Check {
  constructor(yaml = OWN) {
    super(yaml, { isComplete: yaml.includes('Pet Store'), isOpen: yaml !== OWN });
  }
}
