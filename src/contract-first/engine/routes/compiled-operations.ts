/** Compiles the checks and writers of each operation. */
import type { AnyDomain } from '../../store/tables/description.ts';
import type { Contract, Operation, Reply } from '../contract/contract.ts';
import { replyFor } from '../contract/replies.ts';
import { buildErrorFormOf, type ErrorFormOf, errorTypeOf, type ToErrorBody } from '../errors/error-body.ts';
import { buildCheckHeaders, type CheckHeaders } from '../replies/reply-headers.ts';
import { buildCompileReply, buildWriterOf, type WriterOf, type WriterOptions } from '../replies/reply-writers.ts';
import { buildCheckRequest, type CheckRequest } from '../requests/request-checks.ts';
import { type BuildCheck, buildChecks, type Checks, throwProblem } from '../schema/checks.ts';
import type { ReportProblem } from '../schema/json.ts';

export interface CompiledOperation {
  check: CheckRequest;
  writerOf: WriterOf;
  checkHeadersOf: (status: number) => CheckHeaders | undefined;
  errorFormOf: ErrorFormOf;
}

/**
 * The compiled operations by operationId. `compileNext` compiles one more function in advance, before a request needs
 * it.
 */
export type CompiledOperations = ReadonlyMap<string, CompiledOperation> & Pick<Checks, 'compileNext'>;

/** The team's code that the operations use. */
export interface TeamParts {
  /** Makes the bodies of the server's own errors. */
  toErrorBody: ToErrorBody;
  /** The team's collections. Replies may contain their records. */
  domain: AnyDomain;
  /** The operations with the handler `notImplemented`, by id. The replies of these operations contain no record. */
  unimplemented?: ReadonlySet<string>;
}

/**
 * Compiles the operations of a finished contract. A problem in the contract is thrown as an error, because the build
 * should already have found it.
 */
export function compileOperations(
  { operations, proven }: Contract,
  { toErrorBody }: Pick<TeamParts, 'toErrorBody'>,
): CompiledOperations {
  const buildCheck = buildChecks();
  const compileReply = buildCompileReply(buildCheck);
  const writers = { compileReply, proven, toErrorBody, errorType: errorTypeOf({ operations }) };
  const compiled = [...operations.values()].map((operation): [string, CompiledOperation] => [
    operation.id,
    compileOperation(operation, buildCheck, writers, throwProblem),
  ]);
  return Object.assign(new Map(compiled), { compileNext: buildCheck.compileNext });
}

export function compileOperation(
  operation: Operation,
  buildCheck: BuildCheck,
  writers: WriterOptions,
  report: ReportProblem,
): CompiledOperation {
  const { replies } = operation;
  const ofHeaders = new Map(replies.map((reply) => [reply, buildCheckHeaders(buildCheck, operation, reply, report)]));
  return {
    check: buildCheckRequest(buildCheck, operation, report),
    writerOf: buildWriterOf(writers, operation, report),
    checkHeadersOf: (status) => ofHeaders.get(replyFor(replies, status) as Reply),
    errorFormOf: buildErrorFormOf(writers.toErrorBody, operation, writers.errorType),
  };
}

/** Returns a line for each operation without a handler, and for each handler without an operation. */
export function findUnmatched(operations: readonly string[], handlers: readonly string[]): string[] {
  const missing = operations.filter((id) => !handlers.includes(id));
  const unused = handlers.filter((id) => !operations.includes(id));
  return [
    ...missing.map((id) => `operation ${id} has no handlers/${id}.ts`),
    ...unused.map((id) => `handlers/${id}.ts has no operation ${id} in the contract`),
  ];
}
