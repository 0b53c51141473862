/** The links of responses (OpenAPI 3.1, section 4.8.20): each leads to an operation and parameters that exist. */

import type { Json, Refuse } from '../schema/json.ts';
import { lookUp } from '../schema/references.ts';
import type { Operation, Parameter } from './contract.ts';

export function checkLinks(resolved: Json, operations: Map<string, Operation>, refuse: Refuse): void {
  for (const { method, path, id } of operations.values()) {
    const source = resolved.paths[path][method.toLowerCase()];
    for (const [status, { links = {} }] of Object.entries<Json>(source.responses ?? {})) {
      for (const [name, link] of Object.entries<Json>(links)) {
        checkLink(link, (problem) => refuse(`operation ${id}: response ${status}: link ${name}: ${problem}`));
      }
    }
  }

  function checkLink({ operationId, operationRef, parameters = {} }: Json, refuseLink: Refuse): void {
    const id = operationId ?? lookUp(resolved, operationRef)?.operationId;
    const target = operations.get(id);
    if (!target) refuseLink(`there is no operation ${operationId ?? operationRef}`);
    for (const name of Object.keys(parameters)) {
      const isThere = (parameter: Parameter) => [parameter.name, `${parameter.in}.${parameter.name}`].includes(name);
      if (target && !target.parameters.some(isThere)) refuseLink(`operation ${id} has no parameter ${name}`);
    }
  }
}
