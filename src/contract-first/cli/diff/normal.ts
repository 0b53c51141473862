/**
 * Normalises a contract for the comparison: chooses one notation where OpenAPI allows several, and removes keywords
 * that repeat their default.
 */
import { toTypes } from '../../contract/read/bodies.ts';
import { toCurrent, withoutNames } from '../../contract/read/normal-form.ts';
import { allowedTypesOf } from '../../contract/subsets/keyword-subsets.ts';
import {
  type BodyNode,
  type Document,
  type LinkNode,
  type MediaNode,
  mapOperations,
  type OperationNode,
  operationsOf,
  type ParameterNode,
  type ResponseNode,
  type SchemeNode,
  type SecurityNode,
  type ValueNode,
} from '../../engine/contract/document.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import { isJson, toMediaType } from '../../engine/contract/replies.ts';
import { type Keywords, keywordsOf } from '../../engine/schema/json.ts';
import { lookUp } from '../../engine/schema/keys.ts';

export const NO_KEY = 'no key';

/** The key for the media type that the server usually sends, in a compared reply. */
export const SENT_TYPE = 'content type that is sent';

/**
 * The key for the first media type of a compared reply, if the server usually sends another type. Generated clients may
 * use the first type.
 */
export const FIRST = 'content type that is listed first';

/**
 * Matches header parameters that OpenAPI ignores, because other parts of the contract describe these headers (OpenAPI
 * 3.1, section 4.8).
 */
const IGNORED = /^header\.(accept|content-type|authorization)$/;

const DEPRECATION = ['deprecated', 'x-deprecated-at', 'x-sunset', 'x-successor'];

/**
 * An operation in its normalised form for the comparison, with everything that the operation inherits from its path
 * item and from the contract.
 */
export interface Comparable {
  operationId: string;
  path: string;
  deprecation: { deprecated?: boolean; 'x-sunset'?: string; [other: string]: unknown };
  security: string[];
  parameters: Record<string, ParameterNode>;
  requestBody: { body?: BodyNode };
  responses: Record<string, ResponseNode>;
  [other: string]: unknown;
}

/** Converts a contract of OpenAPI 3.0 to 3.1, because 3.1 renamed some keywords. */
export const inOneVersion = <Contract extends { openapi?: string }>(contract: Contract): Contract =>
  String(contract.openapi).startsWith('3.0') ? { ...toCurrent(contract), openapi: contract.openapi } : contract;

/**
 * Returns the operations by method and path, such as `GET /books/{}`. The names of path parameters are removed from the
 * path.
 */
export function operationsByPath(
  { paths, security }: Pick<Document, 'paths' | 'security'>,
  toKey = withoutNames,
): Record<string, Comparable> {
  const entries = Object.entries(paths).flatMap(([path, item]) =>
    operationsOf(item).map(([method, source]): [string, Comparable] => {
      const operation: OperationNode = { ...(security && { security }), ...source };
      const { requestBody } = operation;
      const parameters = [item, operation].flatMap((source) => source.parameters ?? []).map(toParameter);
      const judged: Comparable = {
        ...operation,
        operationId: operation.operationId as string,
        path,
        deprecation: Object.fromEntries(DEPRECATION.map((key) => [key, operation[key]])),
        security: toWaysIn(operation.security),
        parameters: dropped(
          Object.fromEntries(parameters.map((item) => [`${item.in}.${item.name}`, item])),
          (_item, name) => IGNORED.test(name),
        ),
        requestBody: requestBody ? { body: withTypes(requestBody) } : {},
        responses: mapEntries(
          dropped(operation.responses, (_, status) => status.startsWith('x-')),
          (status, response) => [toStatus(status), toResponse(response)],
        ),
      };
      for (const key of DEPRECATION) delete judged[key];
      return [`${method.toUpperCase()} ${toKey(path)}`, judged];
    }),
  );
  return Object.fromEntries(entries);
}

/**
 * Gives the path parameters of `operation` the names that the parameters at the same positions have in `other`. So
 * renaming a path parameter is not a change, because clients never send its name.
 */
export function withNamesOf(other: Comparable, operation: Comparable): Comparable {
  const known = namesIn(other.path);
  const toKnown = new Map(namesIn(operation.path).map((name, index) => [name, known[index]]));
  const parameters = mapEntries(operation.parameters, (key, item) => {
    const name = item.in === 'path' ? toKnown.get(item.name) : undefined;
    return name === undefined ? [key, item] : [`path.${name}`, { ...item, name }];
  });
  return { ...operation, parameters };
}

/** True if an operation may be removed, because its announced date of removal has passed. */
export const isOver = ({ deprecation: { deprecated, 'x-sunset': end } }: Comparable, today: string): boolean =>
  Boolean(deprecated && end && end <= today);

/**
 * Returns the operations of both contracts. Links to an operation that was removed after its announced date are left
 * out, because removing such a link is not a change for clients.
 */
export function toComparable(before: Document, after: Document, today: string) {
  const [old, now] = [operationsByPath(before), operationsByPath(after)];
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

/**
 * Returns each security requirement as a text. A client must fulfil one of them, with all schemes that the text names.
 * Without requirements, the only text is `no key`.
 */
function toWaysIn(requirements: SecurityNode[] = []): string[] {
  const ways = requirements.map((requirement) =>
    Object.entries(requirement)
      .map(([scheme, scopes]) => [scheme, ...scopes.toSorted()].join(' '))
      .sort()
      .join(' and '),
  );
  return ways.length > 0 ? ways.map((way) => way || NO_KEY) : [NO_KEY];
}

function toParameter(parameter: ParameterNode): ParameterNode {
  const { name, in: location } = parameter;
  const style = location === 'query' || location === 'cookie' ? 'form' : 'simple';
  return { ...withoutUsual(parameter, style), name: location === 'header' ? name.toLowerCase() : name };
}

const toStatus = (status: string) => (status === 'default' ? status : status.toUpperCase());

function toResponse(response: ResponseNode): ResponseNode {
  const types = toTypes(response.content ?? {}, '', () => {}).map(({ type }) => type);
  const named = mapEntries(response.headers, (name, header) => [name.toLowerCase(), withoutUsual(header, 'simple')]);
  const headers = dropped(named, (_header, name) => name === 'content-type');
  const [first] = types;
  return {
    ...withTypes(response),
    headers,
    [SENT_TYPE]: types.find(isJson) ?? first,
    [FIRST]: types.some(isJson) && first,
  };
}

/** Renames security schemes, in the components and requirements of a contract. */
export function withSchemeNames(contract: Document, names: Map<string, string>): Document {
  if (names.size === 0) return contract;
  const rename = <Value>(node?: Record<string, Value>) =>
    mapEntries(node, (name, value) => [names.get(name) ?? name, value]);
  const withRequirements = <Node extends { security?: SecurityNode[] | undefined }>(node: Node): Node =>
    node.security ? { ...node, security: node.security.map(rename) } : node;
  const { components, paths } = contract;
  return {
    ...withRequirements(contract),
    components: { ...components, securitySchemes: rename(components?.securitySchemes) },
    paths: mapEntries(paths, (path, item) => [path, mapOperations(item, withRequirements)]),
  };
}

/** Returns the node with the names of its media types in lower case and without their parameters. */
const withTypes = <Node extends { content?: Record<string, MediaNode> }>(node: Node): Node => ({
  ...node,
  content: mapEntries(node.content, (type, media) => [toMediaType(type), media]),
});

/**
 * Normalises a security scheme: case does not matter in the names of authentication schemes and headers (RFC 9110, 11.1
 * and 5.1).
 */
export function toScheme({ scheme, in: location, name, ...rest }: SchemeNode): Record<string, unknown> {
  return {
    ...rest,
    scheme: scheme?.toLowerCase(),
    in: location,
    name: location === 'header' ? name?.toLowerCase() : name,
  };
}

const mapEntries = <Value>(
  node: Record<string, Value> = {},
  map: (key: string, value: Value) => [string, Value],
): Record<string, Value> => Object.fromEntries(Object.entries(node).map(([key, value]) => map(key, value)));

/** Returns the object without the entries that fulfil `isOfKind`. */
export const dropped = <Value>(
  node: Record<string, Value> = {},
  isOfKind: (value: Value, key: string) => boolean,
): Record<string, Value> => Object.fromEntries(Object.entries(node).filter(([key, value]) => !isOfKind(value, key)));

/**
 * Removes keywords that repeat their default. If the schema allows neither lists nor objects, also removes `explode`,
 * which then has no effect.
 */
function withoutUsual<Node extends ValueNode & { style?: string }>(node: Node, style: string): Node {
  const explode = (node.style ?? style) === 'form';
  const isPlain = allowedTypesOf(keywordsOf(node.schema))?.every((type) => type !== 'array' && type !== 'object');
  const usual: Keywords = { style, explode, allowReserved: false, allowEmptyValue: false, deprecated: false };
  return dropped<unknown>(isPlain ? { ...node, explode } : node, (value, key) => value === usual[key]) as Node;
}
