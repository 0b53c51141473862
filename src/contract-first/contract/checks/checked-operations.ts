/** Checks that the server can serve each operation of a contract, with the parts of the service. Refuses with all problems at once. */
import { ContractError, type Operation, type ReadContract } from '../../engine/contract/contract.ts';
import type { HeaderNode } from '../../engine/contract/document.ts';
import { inAllTypes } from '../../engine/contract/replies.ts';
import { headersOfHandler, UNSENDABLE } from '../../engine/replies/reply-headers.ts';
import { buildCompileReply } from '../../engine/replies/reply-writers.ts';
import { compileOperation, type OwnParts } from '../../engine/routes/compiled-operations.ts';
import { type BuildCheck, buildChecks } from '../../engine/schema/checks.ts';
import { keywordsOf, type Refuse } from '../../engine/schema/json.ts';
import { toRecords } from '../records.ts';
import { refuseImpossible, refuseUnfitDefaults } from '../schema/impossible.ts';
import { checkRequired, checkSendable } from '../schema/required-fields.ts';
import { checkOwnReplies } from './own-replies.ts';
import { checkPages } from './stored-replies.ts';
import { checkCursors } from './unfit-cursors.ts';
import { checkRecords } from './unfit-records.ts';
import { refuseUnstorableFields, refuseUnstoredFields } from './unstorable-fields.ts';

/**
 * Returns warnings: what cannot be proven to fit. More can be where patterns are known to take linear time.
 * @throws ContractError
 */
export function checkOperations(
  contract: ReadContract,
  { toErrorBody, domain, isLinear = false }: OwnParts & { isLinear?: boolean },
): string[] {
  const buildCheck = buildChecks({ isJudged: true, isStrict: contract.isStrict ?? false });
  const compileReply = buildCompileReply(buildCheck);
  const records = toRecords(contract, domain);
  // A collection whose schema the contract does not have stores nothing.
  const kept = Object.values(domain).flatMap((description) => {
    const stored = records[description.schema];
    return stored === undefined ? [] : [{ description, stored }];
  });
  const [problems, warnings]: [string[], string[]] = [[], []];
  const told = new Set<string>();
  for (const operation of contract.operations.values()) {
    const before = problems.length;
    const refuse = (problem: string) => problems.push(`operation ${operation.id}: ${problem}`);
    compileOperation(operation, buildCheck, { compileReply, proven: {}, toErrorBody }, refuse);
    checkHeaders(operation, refuse);
    checkOwnReplies({ buildCheck, compileReply, contract, operation, toErrorBody, told }, refuse);
    if (contract.isComplete) checkPossible(operation, buildCheck, refuse);
    checkDefaults(operation, buildCheck, refuse);
    (contract.isStrict ? checkStrictly : checkFillable)(operation, refuse);
    if (problems.length > before) continue;
    for (const { description, stored } of kept) {
      checkPages(operation, stored, refuse);
      if (contract.isComplete) refuseUnstoredFields(operation, description, refuse);
    }
  }
  if (problems.length === 0) {
    const refuse = (problem: string) => problems.push(problem);
    for (const { description, stored } of kept) refuseUnstorableFields(description, { stored, buildCheck }, refuse);
    const warn = (warning: string) => warnings.push(warning);
    const operations = [...contract.operations.values()];
    checkRecords(operations, kept, { buildCheck, isLinear }, { refuse, warn });
    for (const operation of operations) checkCursors(operation, kept, { buildCheck, isLinear }, { refuse, warn });
  }
  if (problems.length > 0) throw new ContractError(problems);
  return warnings;
}

/** A handler would fail only after it has stored something. */
function checkHeaders(operation: Operation, refuse: Refuse): void {
  for (const reply of operation.replies) {
    const problems = headersOfHandler(operation, reply).flatMap(findUnsendable);
    for (const problem of problems) refuse(`response ${reply.status}: ${problem}`);
  }
}

/** A header's name (RFC 9110, section 5.1). */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Finds names and values in the contract that no header may have. */
function findUnsendable([name, { schema }]: [string, HeaderNode]): string[] {
  if (!NAME.test(name)) return [`header ${name}: no header may have this name`];
  const { const: only = [], enum: several = [] } = keywordsOf(schema);
  const value = [only, several].flat().find((one) => UNSENDABLE.test(String(one)));
  return value === undefined ? [] : [`header ${name}: no header may have the value ${JSON.stringify(value)}`];
}

function checkPossible({ parameters, body, replies }: Operation, buildCheck: BuildCheck, refuse: Refuse): void {
  for (const { name, schema } of parameters) refuseImpossible(schema, `parameter ${name}`, buildCheck, refuse);
  for (const { schema } of body?.contents ?? []) refuseImpossible(schema, 'its body', buildCheck, refuse);
  for (const { status, schema } of inAllTypes(replies))
    refuseImpossible(schema, `response ${status}: body`, buildCheck, refuse);
}

function checkDefaults({ parameters, body }: Operation, buildCheck: BuildCheck, refuse: Refuse): void {
  for (const { name, schema } of parameters) refuseUnfitDefaults(schema, `parameter ${name}`, buildCheck, refuse);
  for (const { schema } of body?.contents ?? []) refuseUnfitDefaults(schema, 'its body', buildCheck, refuse);
}

function checkFillable({ replies }: Operation, refuse: Refuse): void {
  for (const { status, schema } of inAllTypes(replies).filter(({ isJson }) => isJson)) {
    checkSendable(schema, `response ${status}: body`, refuse);
  }
}

/** Refuses constructs that could be served as they are, but are mistakes in a contract that was written for this server. */
function checkStrictly({ body, replies }: Operation, refuse: Refuse): void {
  for (const { schema } of body?.contents ?? []) checkRequired(schema, 'body', refuse);
  for (const { status, schema } of inAllTypes(replies)) checkRequired(schema, `response ${status}: body`, refuse);
}
