/**
 * Finds links and `Location` headers that do not lead to an operation of the contract. Only the lint reports them,
 * because the server itself sends neither of the two.
 */
import type { Operation, Parameter, ReadContract } from '../../engine/contract/contract.ts';
import { type LinkNode, nodesOf, type OperationNode } from '../../engine/contract/document.ts';
import { encodePath } from '../../engine/contract/path-names.ts';
import { isJson } from '../../engine/contract/replies.ts';
import { type BuildCheck, buildChecks } from '../../engine/schema/checks.ts';
import { type ContractProblem, type ReportProblem, reportIn, type Schema } from '../../engine/schema/json.ts';
import { lookUp } from '../../engine/schema/keys.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import { fromPointerToken, toPointerOf } from '../../json/pointer.ts';
import { reportInOperation } from '../read/operations.ts';
import { declaredHeader } from './server-replies.ts';

/**
 * Returns a problem for each broken link, such as `operation addBook: response 201: link self: there is no operation
 * findBook`.
 */
export function findBrokenLinks(contract: ReadContract): ContractProblem[] {
  const problems: ContractProblem[] = [];
  const buildCheck = buildChecks({ isJudged: true });
  for (const operation of contract.operations.values()) {
    const report = reportInOperation((words, pointer) => problems.push({ words, pointer }), operation);
    reportLinks(contract, operation, report);
    reportLocationHeaders(contract, operation, buildCheck, report);
  }
  return problems;
}

/**
 * Reports links (OpenAPI 3.1, section 4.8.20) to unknown operations, with unknown parameters, or with a field that the
 * body cannot have.
 */
function reportLinks({ resolved, operations }: ReadContract, operation: Operation, report: ReportProblem): void {
  const { responses = {} } = nodesOf(resolved, operation).source;
  for (const [status, { links = {}, content = {} }] of Object.entries(responses)) {
    const [, body] = Object.entries(content).find(([type]) => isJson(type)) ?? [];
    for (const [name, link] of Object.entries(links)) {
      const at = toPointerOf('responses', status, 'links', name);
      const reportLink = reportIn(report, at, `response ${status}: link ${name}: `);
      reportTarget(link, reportLink);
      for (const value of Object.values(link.parameters ?? {})) {
        const [, pointer] = /^\$response\.body#\/(.*)$/.exec(String(value)) ?? [];
        if (pointer !== undefined && !mayHave(body?.schema ?? true, pointer.split('/').map(fromPointerToken)))
          reportLink(`the body of the response has no ${pointer}`);
      }
    }
  }

  function reportTarget(
    { operationId, operationRef = '', parameters = {} }: LinkNode,
    reportLink: ReportProblem,
  ): void {
    const node = lookUp(resolved, operationRef) as OperationNode | undefined;
    const id = operationId ?? node?.operationId;
    const target = operations.get(id as string);
    if (!target) reportLink(`there is no operation ${operationId ?? operationRef}`);
    for (const name of Object.keys(parameters)) {
      const isThere = (parameter: Parameter) => [parameter.name, `${parameter.in}.${parameter.name}`].includes(name);
      if (target && !target.parameters.some(isThere)) reportLink(`operation ${id} has no parameter ${name}`);
    }
  }
}

/**
 * True if a body may contain a value at the path `keys`. Returns true for `anyOf` and `oneOf`, because the alternatives
 * are not searched.
 */
function mayHave(schema: Schema, [name, ...rest]: string[]): boolean {
  const { properties, items, additionalProperties = false, ...others } = mergeAllOf(schema);
  if (name === undefined || ['if', 'anyOf', 'oneOf', 'patternProperties'].some((key) => key in others)) return true;
  if (items !== undefined) return mayHave(items, rest);
  if (properties === undefined || additionalProperties) return true;
  return Object.hasOwn(properties, name) && mayHave(properties[name] as Schema, rest);
}

/**
 * Reports a header `Location` if its schema rejects the path of every operation. Handlers make such paths with `urlOf`.
 */
function reportLocationHeaders(
  { operations, prefix }: ReadContract,
  { replies }: Operation,
  buildCheck: BuildCheck,
  report: ReportProblem,
): void {
  const paths = [...operations.values()].map(({ path }) => encodePath(path).replace(/\{\w+\}/g, '1'));
  const urls = paths.map((path) => prefix + path);
  for (const reply of replies) {
    const { schema } = declaredHeader(reply, 'location') ?? {};
    if (schema === undefined) continue;
    const check = buildCheck(schema, { name: 'header Location', at: '/it' }, () => {});
    if (urls.every((url) => check(url)))
      report(
        `response ${reply.status}: header Location cannot be the path of an operation, such as ${urls[0]}`,
        toPointerOf('responses', reply.status, 'headers', 'Location'),
      );
  }
}
