/** Compiles the check and the writers of each operation. A contract that cannot be served is refused with all its problems at once. */

import { domain } from '../../generated/domain.ts';
import type { AnyDescription } from '../../store/description.ts';
import { type Contract, ContractError, type Operation, type Reply } from '../contract/contract.ts';
import { inAllTypes, replyFor } from '../contract/replies.ts';
import type { ErrorFormOf, ToErrorBody } from '../error-body.ts';
import { buildCompileReply } from '../replies/compiled-reply.ts';
import { buildErrorFormOf } from '../replies/error-bodies.ts';
import { checkOwnReplies } from '../replies/own-replies.ts';
import { buildCheckHeaders, type CheckHeaders } from '../replies/reply-headers.ts';
import { buildWriterOf, type WriterOf } from '../replies/reply-writers.ts';
import { buildIsProven, checkPages } from '../replies/stored-replies.ts';
import { buildCheckRequest, type CheckRequest } from '../requests/checks.ts';
import { type BuildCheck, buildChecks, type Checks } from '../schema/checks.ts';
import { refuseImpossible, refuseUnfitDefaults } from '../schema/impossible.ts';
import type { Refuse } from '../schema/json.ts';
import { checkRequired, checkSendable } from '../schema/required-fields.ts';
import { recordSchema } from './stored-records.ts';
import { refuseUnstorableFields, refuseUnstoredFields } from './unstorable-fields.ts';

export interface CompiledOperation {
  check: CheckRequest;
  writerOf: WriterOf;
  checkHeadersOf: (status: number) => CheckHeaders | undefined;
  errorFormOf: ErrorFormOf;
}

/** The operations by id; `compileNext` compiles one more part ahead of its first call. */
export type CompiledOperations = ReadonlyMap<string, CompiledOperation> & Pick<Checks, 'compileNext'>;

/** @throws ContractError */
export function compileOperations(contract: Contract, toErrorBody: ToErrorBody): CompiledOperations {
  const buildCheck = buildChecks(contract);
  const compileReply = buildCompileReply(buildCheck);
  // A collection whose schema the contract does not have stores nothing.
  const kept = Object.entries<AnyDescription>(domain)
    .filter(([, { schema }]) => contract.document.components?.schemas?.[schema] !== undefined)
    .map(([name, description]) => ({ name, description, stored: recordSchema(contract, description.schema) }));
  const writers = { compileReply, isProven: buildIsProven(kept), toErrorBody };
  const problems: string[] = [];
  const told = new Set<string>();
  const compiled = [...contract.operations.values()].map((operation): [string, CompiledOperation] => {
    const before = problems.length;
    const refuse = (problem: string) => problems.push(`operation ${operation.id}: ${problem}`);
    const check = buildCheckRequest(buildCheck, operation, refuse);
    const writerOf = buildWriterOf(writers, operation, refuse);
    const ofHeaders = new Map(
      operation.replies.map((reply) => [reply, buildCheckHeaders(buildCheck, operation, reply, refuse)]),
    );
    const checkHeadersOf = (status: number) => ofHeaders.get(replyFor(operation.replies, status) as Reply);
    if (!contract.isChecked) {
      checkOwnReplies({ buildCheck, compileReply, contract, operation, toErrorBody, told }, refuse);
      if (contract.isComplete) checkPossible(operation, buildCheck, refuse);
      checkDefaults(operation, buildCheck, refuse);
      (contract.isStrict ? checkStrictly : checkFillable)(operation, refuse);
    }
    if (!contract.isChecked && problems.length === before) {
      for (const { description, stored } of kept) {
        checkPages(operation, stored, refuse);
        if (contract.isComplete) refuseUnstoredFields(operation, description, refuse);
      }
    }
    const errorFormOf = buildErrorFormOf(toErrorBody, operation);
    return [operation.id, { check, writerOf, checkHeadersOf, errorFormOf }];
  });
  if (!contract.isChecked && problems.length === 0) {
    const refuse = (problem: string) => problems.push(problem);
    for (const { description, stored } of kept) refuseUnstorableFields(description, { stored, buildCheck }, refuse);
  }
  if (problems.length > 0) throw new ContractError(problems);
  return Object.assign(new Map(compiled), { compileNext: buildCheck.compileNext });
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
function checkStrictly({ parameters, body, replies }: Operation, refuse: Refuse): void {
  const key = parameters.find(({ name }) => name.toLowerCase() === 'idempotency-key');
  if (key && key.keptHours === undefined) refuse('parameter Idempotency-Key: needs x-kept-hours, to be done once');
  for (const { schema } of body?.contents ?? []) checkRequired(schema, 'body', refuse);
  for (const { status, schema } of inAllTypes(replies)) checkRequired(schema, `response ${status}: body`, refuse);
}
