/** The contract's digest, which shows whether the program was built for this contract. */
import { createHash } from 'node:crypto';
import { type Contract, ContractError } from './contract.ts';

const STALE = 'it has changed since this program was built: run `npm run generate`, and build again';

/** The digest of the contract as JSON: comments and layout of the YAML do not count. */
export function toDigest(json: string): string {
  return createHash('sha256').update(json).digest('hex');
}

/** @throws ContractError */
export function checkDigest({ digest }: Contract, builtFor: string): void {
  if (digest !== builtFor) throw new ContractError([STALE]);
}
