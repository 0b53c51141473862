/** The scopes of the contract, as TypeScript: the command that makes keys need not read the contract. */
import type { Contract } from '../src/engine/contract/contract.ts';
import { joined, type Source, source } from './source-text.ts';

export function buildScopes({ operations }: Contract): Source {
  const scopes = new Set([...operations.values()].flatMap(({ security }) => security.flatMap(({ scopes }) => scopes)));
  const listed = [...scopes].map((scope) => source`${scope}`);
  return source`/** The scopes that the operations need. */
export const SCOPES: readonly string[] = [${joined(listed, ', ')}];
`;
}
