/** The operations of the contract, by their ids. */
import type { Json, Operation, Refuse } from './contract.ts';
import { checkSuccessors, toDeprecation } from './deprecation.ts';
import { toParameters } from './parameters.ts';
import { checkSecurity } from './security.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const MEDIA_TYPE = 'application/json';

export function toOperations(resolved: Json, refuse: Refuse): Map<string, Operation> {
  const operations = new Map<string, Operation>();
  for (const [path, item] of Object.entries<Json>(resolved.paths ?? {})) {
    for (const method of METHODS.filter((name) => item[name])) {
      const operation = toOperation(method, path, item, resolved, refuse);
      if (operations.has(operation.id)) refuse(`operationId ${operation.id} stands twice`);
      operations.set(operation.id, operation);
    }
  }
  checkSuccessors(operations, refuse);
  return operations;
}

function toOperation(method: string, path: string, item: Json, resolved: Json, refuseAny: Refuse): Operation {
  const source = item[method];
  const id: string = source.operationId ?? '';
  const refuse = (problem: string) => refuseAny(`operation ${id || `${method} ${path}`}: ${problem}`);
  if (!/^[A-Za-z][A-Za-z0-9]*$/.test(id)) refuse('its operationId is missing or not letters and digits');
  const security: Record<string, string[]>[] = source.security ?? resolved.security ?? [];
  checkSecurity(security, resolved.components?.securitySchemes, refuse);
  checkResponses(source.responses, refuse);
  return {
    id,
    method: method.toUpperCase(),
    path,
    parameters: toParameters(path, [...(item.parameters ?? []), ...(source.parameters ?? [])], refuse),
    body: toBody(source.requestBody, refuse),
    secured: security.length > 0,
    deprecation: toDeprecation(source, refuse),
  };
}

function checkResponses(responses: Json, refuse: Refuse): void {
  for (const [status, { content }] of Object.entries<Json>(responses ?? {})) {
    if (content && !isJson(content)) refuse(`response ${status}: only ${MEDIA_TYPE} is supported`);
  }
}

function toBody(source: Json, refuse: Refuse): Operation['body'] {
  if (!source) return undefined;
  const { required = false, content, 'x-max-bytes': maxBytes } = source;
  if (!isJson(content)) refuse(`its body: only ${MEDIA_TYPE} is supported`);
  return { required, maxBytes, schema: content[MEDIA_TYPE]?.schema ?? {} };
}

const isJson = (content: object) => Object.keys(content).join() === MEDIA_TYPE;
