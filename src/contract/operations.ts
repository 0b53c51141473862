/** The operations of the contract, by their ids. */
import { withoutFields } from '../schema/directions.ts';
import { findInt64s } from '../schema/int64-places.ts';
import type { Json, Refuse } from '../schema/json.ts';
import { checkRequired } from '../schema/required-fields.ts';
import type { Body, Content, Operation, Reply } from './contract.ts';
import { checkSuccessors, toDeprecation } from './deprecation.ts';
import { checkForm } from './forms.ts';
import { checkLinks } from './links.ts';
import { checkPassedOn, isJson, kindOf, PLAIN_JSON, toTypes } from './media-types.ts';
import { toParameters } from './parameters.ts';
import { type KeyPlaces, toSecurity } from './security.ts';

export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** An operation's name in problems. */
export const nameOf = (id: string | undefined, method: string, path: string) =>
  `operation ${id || `${method} ${path}`}`;

export function toOperations(resolved: Json, keyPlaces: KeyPlaces, refuse: Refuse): Map<string, Operation> {
  const operations = new Map<string, Operation>();
  for (const [path, item] of Object.entries<Json>(resolved.paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      const operation = toOperation(method, path, { security: resolved.security, ...item }, keyPlaces, refuse);
      if (operations.has(operation.id)) refuse(`operationId ${operation.id} is used twice`);
      operations.set(operation.id, operation);
    }
  }
  checkFileNames([...operations.keys()], refuse);
  checkSuccessors(operations, refuse);
  checkLinks(resolved, operations, refuse);
  return operations;
}

/** Some file systems take `findItem.ts` and `finditem.ts` for the same file. */
function checkFileNames(ids: string[], refuse: Refuse): void {
  for (const id of ids) {
    const other = ids.find((name) => name < id && name.toLowerCase() === id.toLowerCase());
    if (other) refuse(`operationId ${id}: its handler would have the same file as that of ${other}`);
  }
}

function toOperation(method: string, path: string, item: Json, keyPlaces: KeyPlaces, refuseAny: Refuse): Operation {
  const source = item[method];
  const id: string = source.operationId ?? '';
  const refuse = (problem: string) => refuseAny(`${nameOf(id, method, path)}: ${problem}`);
  if (!/^[A-Za-z][\w-]*$/.test(id)) refuse('its operationId is missing or not of letters, digits, - and _');
  const parameters = toParameters(path, [...(item.parameters ?? []), ...(source.parameters ?? [])], refuse);
  return {
    id,
    method: method.toUpperCase(),
    path,
    parameters,
    body: toBody(source.requestBody, refuse),
    replies: Object.entries(source.responses ?? {}).map(([status, response]) => toReply(status, response, refuse)),
    security: toSecurity(source.security ?? item.security ?? [], keyPlaces, parameters, refuse),
    deprecation: toDeprecation(source, refuse),
  };
}

function toReply(status: string, { content = {}, headers = {} }: Json, refuse: Refuse): Reply {
  const name = `response ${status}`;
  const [type = PLAIN_JSON, ...others] = toTypes(content, name, refuse);
  if (others.length > 0) refuse(`${name}: only one media type is supported, not ${type} and ${others.join(', ')}`);
  const schema = withoutFields('writeOnly', content[type]?.schema ?? {});
  if (!isJson(type)) checkPassedOn(schema, type, name, refuse);
  checkRequired(schema, `${name}: body`, refuse);
  const int64s = findInt64s(schema, `${name}: body`, refuse);
  const hasContent = Object.keys(content).length > 0;
  return { status, type: type.toLowerCase(), hasContent, isJson: isJson(type), schema, int64s, headers };
}

function toBody(source: Json, refuse: Refuse): Body | undefined {
  if (!source) return undefined;
  const { required = false, content, 'x-max-bytes': maxBytes } = source;
  const contents = toTypes(content, 'its body', refuse).map((type): Content => {
    const schema = withoutFields('readOnly', content[type].schema ?? {});
    const kind = kindOf(type);
    if (kind === 'bytes') checkPassedOn(schema, type, 'its body', refuse);
    if (kind === 'form') checkForm(schema, content[type].encoding, refuse);
    if (kind !== 'json' && !maxBytes) refuse(`its body: ${type} is handed over as it comes, which needs x-max-bytes`);
    findInt64s(schema, 'body', refuse);
    checkRequired(schema, 'body', refuse);
    return { type: type.toLowerCase(), kind, schema };
  });
  return { required, maxBytes, contents };
}
