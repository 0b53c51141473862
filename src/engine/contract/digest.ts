/** The contract's digest: tells whether the program was built for this contract or for an earlier one. */
import { createHash } from 'node:crypto';
import { type Contract, ContractError } from './contract.ts';

const STALE = 'it has changed since this program was built: run `npm run generate`, and build again';

/** Of the contract as JSON: comments and layout of the YAML do not count. */
export function toDigest(json: string): string {
  return createHash('sha256').update(json).digest('hex');
}

/** @throws ContractError */
export function checkDigest({ digest }: Contract, builtFor: string): void {
  if (digest !== builtFor) throw new ContractError([STALE]);
}
