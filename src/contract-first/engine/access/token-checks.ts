/** Whether the team checks the tokens that the contract needs. */
import { type Contract, ContractError } from '../contract/contract.ts';

/** @throws ContractError if tokens of another issuer are needed, and there is no `verifyToken` */
export function checkTokens({ tokenSchemes }: Pick<Contract, 'tokenSchemes'>, verifyToken: unknown): void {
  const unchecked = verifyToken === undefined ? tokenSchemes : [];
  if (unchecked.length === 0) return;
  throw new ContractError(
    unchecked.map((name) => `security scheme ${name}: its tokens are not checked: write verifyToken in src/tokens.ts`),
  );
}
