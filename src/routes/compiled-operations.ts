/** Compiles each operation's check and writers. What cannot be served is refused, with every problem at once. */
import { type Contract, ContractError } from '../contract/contract.ts';
import { buildCompileReply } from '../replies/compiled-reply.ts';
import { checkOwnReplies } from '../replies/own-replies.ts';
import { buildWrite, type Write } from '../replies/reply-writers.ts';
import { buildCheck, type Check } from '../requests/checks.ts';
import { buildAjv } from '../schema/ajv.ts';

export interface CompiledOperation {
  check: Check;
  write: Write;
}

/** By their ids. @throws ContractError */
export function compileOperations(contract: Contract): Map<string, CompiledOperation> {
  const ofRequests = buildAjv(contract, true);
  const ofReplies = buildAjv(contract, false);
  const compileReply = buildCompileReply(ofReplies);
  const problems: string[] = [];
  const compiled = [...contract.operations.values()].map((operation): [string, CompiledOperation] => {
    const refuse = (problem: string) => problems.push(`operation ${operation.id}: ${problem}`);
    const check = buildCheck(ofRequests, operation, refuse);
    const write = buildWrite(compileReply, operation, refuse);
    if (!contract.isChecked) checkOwnReplies({ ajv: ofReplies, compileReply, contract, operation }, refuse);
    return [operation.id, { check, write }];
  });
  if (problems.length > 0) throw new ContractError(problems);
  return new Map(compiled);
}
