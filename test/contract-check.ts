/**
 * The independent check of replies, against the checked-in contract unless another is named. The pet store declares all that it sends, also
 * with edits, which leave fields unnamed to test that they are sent.
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
