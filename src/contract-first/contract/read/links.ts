/** Checks that what refers to another operation leads to one: links of responses, and successors. */
import type { Operation, Parameter } from '../../engine/contract/contract.ts';
import { type LinkNode, nodesOf, type OperationNode, type ResolvedDocument } from '../../engine/contract/document.ts';
import { isJson } from '../../engine/contract/replies.ts';
import type { Refuse, Schema } from '../../engine/schema/json.ts';
import { lookUp } from '../../engine/schema/keys.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import { fromStep } from '../../json/pointer.ts';

/** Links (OpenAPI 3.1, section 4.8.20) have parameters that are there. */
export function checkLinks(resolved: ResolvedDocument, operations: Map<string, Operation>, refuse: Refuse): void {
  for (const operation of operations.values()) {
    const { responses = {} } = nodesOf(resolved, operation).source;
    for (const [status, { links = {}, content = {} }] of Object.entries(responses)) {
      const [, body] = Object.entries(content).find(([type]) => isJson(type)) ?? [];
      for (const [name, link] of Object.entries(links)) {
        const refuseLink = (problem: string) =>
          refuse(`operation ${operation.id}: response ${status}: link ${name}: ${problem}`);
        checkLink(link, refuseLink);
        for (const value of Object.values(link.parameters ?? {})) {
          const [, pointer] = /^\$response\.body#\/(.*)$/.exec(String(value)) ?? [];
          if (pointer !== undefined && !mayHave(body?.schema ?? true, pointer.split('/').map(fromStep)))
            refuseLink(`the body of the response has no ${pointer}`);
        }
      }
    }
  }

  function checkLink({ operationId, operationRef = '', parameters = {} }: LinkNode, refuseLink: Refuse): void {
    const node = lookUp(resolved, operationRef) as OperationNode | undefined;
    const id = operationId ?? node?.operationId;
    const target = operations.get(id as string);
    if (!target) refuseLink(`there is no operation ${operationId ?? operationRef}`);
    for (const name of Object.keys(parameters)) {
      const isThere = (parameter: Parameter) => [parameter.name, `${parameter.in}.${parameter.name}`].includes(name);
      if (target && !target.parameters.some(isThere)) refuseLink(`operation ${id} has no parameter ${name}`);
    }
  }
}

/** Whether a body may have this part. It is not looked for in alternatives. */
function mayHave(schema: Schema, [name, ...rest]: string[]): boolean {
  const { properties, items, additionalProperties = false, ...others } = mergeAllOf(schema);
  if (name === undefined || ['if', 'anyOf', 'oneOf', 'patternProperties'].some((key) => key in others)) return true;
  if (items !== undefined) return mayHave(items, rest);
  if (properties === undefined || additionalProperties) return true;
  return Object.hasOwn(properties, name) && mayHave(properties[name] as Schema, rest);
}

/** The successor's URL is sent as it is, so its path must not have parameters. */
export function checkSuccessors(operations: Map<string, Operation>, refuse: Refuse): void {
  for (const { id, deprecation } of operations.values()) {
    if (deprecation?.successor === undefined) continue;
    const successor = operations.get(deprecation.successor);
    if (!successor || successor.path.includes('{')) {
      refuse(`operation ${id}: x-successor must be the operationId of one whose path has no parameters`);
    }
  }
}
