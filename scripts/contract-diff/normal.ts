/** A contract as it is compared: one way to write what may be written in several, and no word that says what holds without it. */
import {
  type BodyNode,
  type Document,
  type LinkNode,
  type MediaNode,
  type OperationNode,
  operationsOf,
  type ParameterNode,
  type ResponseNode,
  type SchemeNode,
  type SecurityNode,
} from '../../src/engine/contract/document.ts';
import { isJson, toMediaType, toTypes } from '../../src/engine/contract/media-types.ts';
import { toCurrent } from '../../src/engine/contract/older-version.ts';
import { lookUp } from '../../src/engine/schema/references.ts';

export const NO_KEY = 'no key';

/** The one of several types of a reply that the server sends. */
export const SENT = 'content type that is sent';

const DEPRECATION = ['deprecated', 'x-deprecated-at', 'x-sunset', 'x-successor'];

/** An operation as it is compared, with what it takes over from its path and from the contract. */
export interface Comparable {
  operationId: string;
  deprecation: { deprecated?: boolean; 'x-sunset'?: string; [other: string]: unknown };
  security: string[];
  parameters: Record<string, ParameterNode>;
  requestBody: { body?: BodyNode };
  responses: Record<string, ResponseNode>;
  [other: string]: unknown;
}

/** OpenAPI 3.0 says some of it in other words. */
export const inOneVersion = <Contract extends { openapi?: string }>(contract: Contract): Contract =>
  String(contract.openapi).startsWith('3.0') ? { ...toCurrent(contract), openapi: contract.openapi } : contract;

/** The operations by method and path. */
function toOperations({ paths, security }: Document): Record<string, Comparable> {
  const entries = Object.entries(paths).flatMap(([path, item]) =>
    operationsOf(item).map(([method, source]): [string, Comparable] => {
      const operation: OperationNode = { ...(security && { security }), ...source };
      const { requestBody } = operation;
      const parameters = [item, operation].flatMap((source) => source.parameters ?? []).map(toParameter);
      const judged: Comparable = {
        ...operation,
        operationId: operation.operationId as string,
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
export const isOver = ({ deprecation: { deprecated, 'x-sunset': end } }: Comparable, today: string): boolean =>
  Boolean(deprecated && end && end <= today);

/** The operations of both contracts: a link goes with the operation that it leads to, and may stay behind. */
export function toComparable(before: Document, after: Document, today: string) {
  const [old, now] = [toOperations(before), toOperations(after)];
  const ended = Object.entries(old).filter(([name, operation]) => !now[name] && isOver(operation, today));
  const gone = ended.map(([, { operationId }]) => operationId);
  const isGone = ({ operationId, operationRef = '' }: LinkNode) => {
    const target = lookUp(before, operationRef) as OperationNode | undefined;
    return gone.includes((operationId ?? target?.operationId) as string);
  };
  for (const { responses } of [old, now].flatMap((all) => Object.values(all))) {
    for (const response of Object.values(responses)) response.links = dropped(response.links, isGone);
  }
  return [old, now] as const;
}

/** Each requirement is a way in, by all the schemes that it names. An operation that has none is open to everyone. */
function toWaysIn(requirements: SecurityNode[] = []): string[] {
  const ways = requirements.map((requirement) =>
    Object.entries(requirement)
      .map(([scheme, scopes]) => [scheme, ...scopes].join(' '))
      .join(' and '),
  );
  return ways.length > 0 ? ways.map((way) => way || NO_KEY) : [NO_KEY];
}

function toParameter(parameter: ParameterNode): ParameterNode {
  const { name, in: place, style } = parameter;
  const usualStyle = place === 'query' || place === 'cookie' ? 'form' : 'simple';
  const explode = (style ?? usualStyle) === 'form';
  const usual = { style: usualStyle, explode, allowReserved: false, allowEmptyValue: false, deprecated: false };
  return { ...withoutUsual(parameter, usual), name: place === 'header' ? name.toLowerCase() : name };
}

const toStatus = (status: string) => (status === 'default' ? status : status.toUpperCase());

function toResponse(response: ResponseNode): ResponseNode {
  const usual = { style: 'simple', explode: false, deprecated: false };
  const types = toTypes(response.content ?? {}, '', () => {}).map(({ type }) => type);
  const headers = mapEntries(response.headers, (name, header) => [name.toLowerCase(), withoutUsual(header, usual)]);
  return { ...withTypes(response), headers, [SENT]: types.find(isJson) ?? types[0] };
}

/** Media types without parameters, and in the letters that all have. */
const withTypes = <Node extends { content?: Record<string, MediaNode> }>(node: Node): Node => ({
  ...node,
  content: mapEntries(node.content, (type, media) => [toMediaType(type), media]),
});

/** Names of authentication schemes and of headers are the same in any case (RFC 9110, sections 11.1 and 5.1). */
export function toScheme({ scheme, in: place, name, ...rest }: SchemeNode): Record<string, unknown> {
  return { ...rest, scheme: scheme?.toLowerCase(), in: place, name: place === 'header' ? name?.toLowerCase() : name };
}

const mapEntries = <Value>(
  node: Record<string, Value> = {},
  map: (key: string, value: Value) => [string, Value],
): Record<string, Value> => Object.fromEntries(Object.entries(node).map(([key, value]) => map(key, value)));

/** The entries whose values are not of that kind. */
const dropped = <Value>(
  node: Record<string, Value> = {},
  isOfKind: (value: Value, key: string) => boolean,
): Record<string, Value> => Object.fromEntries(Object.entries(node).filter(([key, value]) => !isOfKind(value, key)));

/** Without each word that says what holds without it. */
const withoutUsual = <Node extends Record<string, unknown>>(node: Node, usual: Record<string, unknown>): Node =>
  dropped(node, (value, key) => value === usual[key]) as Node;
