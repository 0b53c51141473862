/** The scopes of the contract, as TypeScript: the command that makes keys need not read the contract. */
import type { ReadContract } from '../src/engine/contract/contract.ts';

export function buildScopes({ operations }: ReadContract): string {
  const scopes = new Set([...operations.values()].flatMap(({ security }) => security.flatMap(({ scopes }) => scopes)));
  return `/** The scopes that the operations need. */
export const SCOPES: readonly string[] = [${[...scopes].map((scope) => `'${scope}'`).join(', ')}];
`;
}
