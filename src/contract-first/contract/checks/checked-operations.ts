/**
 * Checks that the server can serve each operation of a contract with the code of the service. Collects all problems,
 * then throws.
 */
import { ContractError, type Operation, type ReadContract } from '../../engine/contract/contract.ts';
import type { HeaderNode } from '../../engine/contract/document.ts';
import { inAllTypes } from '../../engine/contract/replies.ts';
import { buildCatalogue } from '../../engine/errors/catalogue.ts';
import { headersOfHandler, UNSENDABLE } from '../../engine/replies/reply-headers.ts';
import { buildCompileReply } from '../../engine/replies/reply-writers.ts';
import { compileOperation, type TeamParts } from '../../engine/routes/compiled-operations.ts';
import { type BuildCheck, buildChecks } from '../../engine/schema/checks.ts';
import { type ContractProblem, keywordsOf, type ReportProblem, reportIn } from '../../engine/schema/json.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { reportInOperation } from '../read/operations.ts';
import { reportImpossible, reportUnfitDefaults, reportUnmetRequired, reportUnsendable } from '../subsets/impossible.ts';
import { reportCursors, reportNextLinks, reportPages } from './pages.ts';
import { reportUnstorableFields, reportUnstoredFields, toRecords } from './records.ts';
import { reportServerReplies } from './server-replies.ts';
import { reportUnfitRecords } from './unfit-records.ts';

/**
 * Checks all operations. Returns a warning about a record or a reply if the checks can neither prove that all its
 * values fit nor find a value that does not fit. `isLinear` is true if all patterns are known to run in linear time.
 * Then the checks also try long texts against the patterns, and find more errors.
 * @throws ContractError that lists all problems
 */
export function checkOperations(
  contract: ReadContract,
  { toErrorBody, domain, unimplemented, isLinear = false }: TeamParts & { isLinear?: boolean },
): ContractProblem[] {
  const buildCheck = buildChecks({ isJudged: true, isStrict: contract.isStrict ?? false });
  const compileReply = buildCompileReply(buildCheck);
  const records = toRecords(contract, domain);
  // Skips a collection if its schema is not in the contract, because no operation of this contract stores its records.
  const collections = Object.entries(domain).flatMap(([name, { schema, ...description }]) => {
    const stored = records[name]?.shown;
    return stored === undefined || schema === undefined ? [] : [{ description: { ...description, schema }, stored }];
  });
  const [problems, warnings]: [ContractProblem[], ContractProblem[]] = [[], []];
  const report: ReportProblem = (words, pointer = '') => problems.push({ words, pointer });
  const warn: ReportProblem = (words, pointer = '') => warnings.push({ words, pointer });
  const replying = {
    buildCheck,
    compileReply,
    contract,
    toErrorBody,
    catalogue: buildCatalogue(domain),
    reported: new Set<string>(),
  };
  for (const operation of contract.operations.values()) {
    const before = problems.length;
    const reportOwn = reportInOperation(report, operation);
    compileOperation(operation, buildCheck, { compileReply, proven: {}, toErrorBody }, reportOwn);
    reportHeaders(operation, reportOwn);
    reportServerReplies({ ...replying, operation }, reportOwn);
    reportNextLinks(operation, buildCheck, reportOwn);
    reportSchemas(operation, contract, buildCheck, reportOwn);
    if (problems.length > before) continue;
    for (const { description, stored } of collections) {
      reportPages(operation, stored, reportOwn);
      reportUnstoredFields(operation, description, reportInOperation(warn, operation));
    }
  }
  if (problems.length === 0) {
    const checking = { buildCheck, isLinear };
    const operations = [...contract.operations.values()];
    for (const collection of collections) reportUnstorableFields(collection, buildCheck, report);
    reportUnfitRecords(operations, collections, { ...checking, unimplemented }, { report, warn });
    for (const operation of operations) reportCursors(operation, collections, checking, { report, warn });
  }
  if (problems.length > 0) throw new ContractError(problems);
  return warnings;
}

/**
 * Reports reply headers if HTTP does not allow their name or a value that is listed in their schema. Sending such a
 * header would fail, but only after the handler has stored its changes.
 */
function reportHeaders(operation: Operation, report: ReportProblem): void {
  for (const reply of operation.replies) {
    for (const header of headersOfHandler(operation, reply)) {
      const problem = findUnsendable(header);
      const pointer = toPointerOf('responses', reply.status, 'headers', header[0]);
      if (problem) report(`response ${reply.status}: ${problem}`, pointer);
    }
  }
}

/** Matches the name of a header (RFC 9110, section 5.1). */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Returns a problem if HTTP does not allow the header's name, or a value that the contract lists for it. */
function findUnsendable([name, { schema }]: [string, HeaderNode]): string | undefined {
  if (!HEADER_NAME.test(name)) return `header ${name}: no header may have this name`;
  const { const: only = [], enum: several = [] } = keywordsOf(schema);
  const value = [only, several].flat().find((one) => UNSENDABLE.test(String(one)));
  return value === undefined ? undefined : `header ${name}: no header may have the value ${JSON.stringify(value)}`;
}

/**
 * Reports schemas that no value fits, and defaults that do not fit their own schema. Also reports required fields that
 * the schema does not describe: in replies always, and in requests if the contract is strict.
 */
function reportSchemas(
  { parameters, body, replies }: Operation,
  { isStrict }: ReadContract,
  buildCheck: BuildCheck,
  report: ReportProblem,
): void {
  const contents = body?.contents ?? [];
  const toSchemas = (...keys: string[]) => reportIn(report, toPointerOf(...keys, 'schema'));
  const bodies = contents.map(({ type, schema }) => {
    return { name: 'its body', schema, own: toSchemas('requestBody', 'content', type) };
  });
  const received = [
    ...parameters.map(({ name, schema }) => ({
      name: `parameter ${name}`,
      schema,
      own: toSchemas('parameters', name),
    })),
    ...bodies,
  ];
  const sent = inAllTypes(replies).map((reply) => {
    const own = toSchemas('responses', reply.status, 'content', reply.type);
    return { ...reply, name: `response ${reply.status}: body`, own };
  });
  for (const { schema, name, own } of [...received, ...sent]) reportImpossible(schema, name, buildCheck, own);
  for (const { schema, name, own } of received) reportUnfitDefaults(schema, name, buildCheck, own);
  if (isStrict) {
    for (const { schema, own } of bodies) reportUnmetRequired(schema, 'body', own);
    for (const { schema, name, own } of sent) reportUnmetRequired(schema, name, own);
  } else for (const { schema, name, own } of sent.filter(({ isJson }) => isJson)) reportUnsendable(schema, name, own);
}
