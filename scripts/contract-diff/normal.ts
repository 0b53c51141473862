/** A contract as it is compared: one way to write what may be written in several, and no word that says what holds without it. */
import { isJson, toMediaType, toTypes } from '../../src/engine/contract/media-types.ts';
import { toCurrent } from '../../src/engine/contract/older-version.ts';
import { METHODS } from '../../src/engine/contract/operations.ts';
import { lookUp } from '../../src/engine/schema/references.ts';
import type { Json } from './expand.ts';

export const NO_KEY = 'no key';

/** The one of several types of a reply that the server sends. */
export const SENT = 'content type that is sent';

const DEPRECATION = ['deprecated', 'x-deprecated-at', 'x-sunset', 'x-successor'];

/** OpenAPI 3.0 says some of it in other words. */
export const inOneVersion = (contract: Json): Json =>
  String(contract.openapi).startsWith('3.0') ? { ...toCurrent(contract), openapi: contract.openapi } : contract;

/** The operations by method and path, each with what it takes over from its path and from the contract. */
function toOperations({ paths, security }: Json): Json {
  const entries = Object.entries<Json>(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const operation = { security, ...item[method] };
      const { requestBody } = operation;
      const parameters = [item, operation].flatMap((source) => source.parameters ?? []).map(toParameter);
      const judged = {
        ...operation,
        deprecation: Object.fromEntries(DEPRECATION.map((key) => [key, operation[key]])),
        security: toWaysIn(operation.security),
        parameters: Object.fromEntries(parameters.map((item) => [`${item.in}.${item.name}`, item])),
        requestBody: requestBody ? { body: withTypes(requestBody) } : {},
        responses: mapEntries(operation.responses, (status, response) => [toStatus(status), toResponse(response)]),
      };
      for (const key of DEPRECATION) delete judged[key];
      return [`${method.toUpperCase()} ${path}`, judged];
    }),
  );
  return Object.fromEntries(entries);
}

/** Whether an operation may go: its end was announced, and is over. */
export const isOver = ({ deprecation }: Json, today: string): boolean =>
  deprecation.deprecated && deprecation['x-sunset'] <= today;

/** The operations of both contracts: a link goes with the operation that it leads to, and may stay behind. */
export function toComparable(before: Json, after: Json, today: string): [before: Json, after: Json] {
  const [old, now] = [toOperations(before), toOperations(after)];
  const names = Object.keys(old).filter((name) => !now[name] && isOver(old[name], today));
  const gone = names.map((name) => old[name].operationId);
  const isGone = ({ operationId, operationRef = '' }: Json) =>
    gone.includes(operationId ?? lookUp(before, operationRef)?.operationId);
  for (const { responses } of [old, now].flatMap((all) => Object.values<Json>(all))) {
    for (const response of Object.values<Json>(responses)) response.links = dropped(response.links, isGone);
  }
  return [old, now];
}

/** Each requirement is a way in, by all the schemes that it names. An operation that has none is open to everyone. */
function toWaysIn(requirements: Json[] = []): string[] {
  const ways = requirements.map((requirement) =>
    Object.entries<Json>(requirement)
      .map(([scheme, scopes]) => [scheme, ...scopes].join(' '))
      .join(' and '),
  );
  return ways.length > 0 ? ways.map((way) => way || NO_KEY) : [NO_KEY];
}

function toParameter({ name, ...parameter }: Json): Json {
  const { in: place, style } = parameter;
  const usualStyle = place === 'query' || place === 'cookie' ? 'form' : 'simple';
  const explode = (style ?? usualStyle) === 'form';
  const usual = { style: usualStyle, explode, allowReserved: false, allowEmptyValue: false, deprecated: false };
  return { ...withoutUsual(parameter, usual), name: place === 'header' ? name.toLowerCase() : name };
}

const toStatus = (status: string) => (status === 'default' ? status : status.toUpperCase());

function toResponse(response: Json): Json {
  const usual = { style: 'simple', explode: false, deprecated: false };
  const types = toTypes(response.content ?? {}, '', () => {}).map(({ type }) => type);
  const headers = mapEntries(response.headers, (name, header) => [name.toLowerCase(), withoutUsual(header, usual)]);
  return { ...withTypes(response), headers, [SENT]: types.find(isJson) ?? types[0] };
}

/** Media types without parameters, and in the letters that all have. */
const withTypes = (node: Json): Json => ({
  ...node,
  content: mapEntries(node.content, (type, media) => [toMediaType(type), media]),
});

/** Names of authentication schemes and of headers are the same in any case (RFC 9110, sections 11.1 and 5.1). */
export function toScheme({ scheme, in: place, name, ...rest }: Json): Json {
  return { ...rest, scheme: scheme?.toLowerCase(), in: place, name: place === 'header' ? name.toLowerCase() : name };
}

const mapEntries = (node: Json = {}, map: (key: string, value: Json) => [string, Json]): Json =>
  Object.fromEntries(Object.entries<Json>(node).map(([key, value]) => map(key, value)));

/** The entries whose values are not of that kind. */
const dropped = (node: Json = {}, isOfKind: (value: Json, key: string) => boolean): Json =>
  Object.fromEntries(Object.entries<Json>(node).filter(([key, value]) => !isOfKind(value, key)));

/** Without each word that says what holds without it. */
const withoutUsual = (node: Json, usual: Json): Json => dropped(node, (value, key) => value === usual[key]);
