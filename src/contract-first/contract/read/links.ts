/** Checks that the links of responses (OpenAPI 3.1, section 4.8.20) lead to existing operations and parameters. */
import type { Operation, Parameter } from '../../engine/contract/contract.ts';
import { type LinkNode, nodesOf, type OperationNode, type ResolvedDocument } from '../../engine/contract/document.ts';
import type { Refuse } from '../../engine/schema/json.ts';
import { lookUp } from '../../engine/schema/pointers.ts';

export function checkLinks(resolved: ResolvedDocument, operations: Map<string, Operation>, refuse: Refuse): void {
  for (const operation of operations.values()) {
    const { responses = {} } = nodesOf(resolved, operation).source;
    for (const [status, { links = {} }] of Object.entries(responses)) {
      for (const [name, link] of Object.entries(links)) {
        checkLink(link, (problem) => refuse(`operation ${operation.id}: response ${status}: link ${name}: ${problem}`));
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
