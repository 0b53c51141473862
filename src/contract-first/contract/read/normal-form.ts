/**
 * Converts a contract to its normal form: OpenAPI 3.1, paths that the router can match, and an id for each operation.
 */
import {
  type Document,
  mapOperations,
  type OperationNode,
  operationsOf,
  type ParameterNode,
  type PathItem,
} from '../../engine/contract/document.ts';
import { namesIn, PATH_PARAMETER, toRouterName, withNames } from '../../engine/contract/path-names.ts';
import { isNode, type Keywords } from '../../engine/schema/json.ts';
import { isNames, isValue, lookUp } from '../../engine/schema/keys.ts';

/**
 * Converts OpenAPI 3.0 to 3.1. The versions differ in schemas, and in keywords next to references (OpenAPI 3.0.3,
 * sections 4.7.23 and 4.7.24).
 */
export function toCurrent<Document extends object>(document: Document): Document {
  return { ...toCurrentNode(document, ''), openapi: '3.1.1' };
}

/** Converts a node and all nodes in it. `key` is the key of the node in its parent. */
function toCurrentNode<Kind>(node: Kind, key: string): Kind;
function toCurrentNode(node: unknown, key: string): unknown {
  if (Array.isArray(node)) return node.map((item) => toCurrentNode(item, ''));
  if (!isNode(node)) return node;
  const hasNames = isNames(key);
  const entries = Object.entries(node).map(([name, value]) => [
    name,
    !hasNames && isValue(name) ? value : toCurrentNode(value, hasNames ? '' : name),
  ]);
  const current = Object.fromEntries(entries);
  return hasNames ? current : toCurrentSchema(current);
}

/**
 * Converts a schema from OpenAPI 3.0. Nodes other than schemas are unchanged, because they have none of these keywords.
 */
function toCurrentSchema({ nullable, ...schema }: Keywords): Keywords {
  // OpenAPI 3.0 ignores keywords next to a reference to a component. Keywords next to the reference of a path item
  // apply.
  if (typeof schema.$ref === 'string' && schema.$ref.startsWith('#/components/')) return { $ref: schema.$ref };
  if (nullable === true && typeof schema.type === 'string') schema.type = [schema.type, 'null'];
  return withBound('exclusiveMinimum', 'minimum', withBound('exclusiveMaximum', 'maximum', schema));
}

/**
 * Converts a limit: in 3.0, `exclusiveMinimum: true` makes `minimum` exclusive; in 3.1, `exclusiveMinimum` is the limit
 * itself.
 */
function withBound(exclusive: string, inclusive: string, schema: Keywords): Keywords {
  const { [exclusive]: isExclusive, [inclusive]: bound, ...others } = schema;
  if (typeof isExclusive !== 'boolean' || bound === undefined) return schema;
  return { ...others, [isExclusive ? exclusive : inclusive]: bound };
}

/** Returns the document with each path item replaced by the result of `map`. */
export function mapPaths(document: Document, map: (item: PathItem, path: string) => PathItem): Document {
  const paths = Object.entries(document.paths).map(([path, item]) => [path, map(item, path)]);
  return { ...document, paths: Object.fromEntries(paths) };
}

/**
 * Returns a path without the names of its parameters. For clients, paths that differ only in these names are the same.
 */
export const withoutNames = (path: string) => path.replace(PATH_PARAMETER, '{}');

/** Replaces names of path parameters that a router cannot handle. */
export function withPathNames(document: Document): Document {
  const isOdd = (path: string) => namesIn(path).some((name) => /\W/.test(name));
  const odd = Object.keys(document.paths).filter(isOdd);
  if (odd.length === 0) return document;
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const rewritten = withNames(path);
    // If the document already contains a path of this name, the build reports both as duplicates.
    if (!odd.includes(path) || rewritten in document.paths) return [path, item];
    const renamed = <Node extends { parameters?: ParameterNode[] }>(node: Node): Node =>
      node.parameters ? { ...node, parameters: rename(node.parameters, document) } : node;
    return [rewritten, mapOperations(renamed(item), renamed)];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/**
 * Renames path parameters. A parameter of `components` is copied first, because another path may use it under its
 * original name.
 */
function rename(parameters: ParameterNode[], document: Document): ParameterNode[] {
  return parameters.map((parameter) => {
    const [, key] = /^#\/components\/parameters\/([^/]+)$/.exec(parameter.$ref ?? '') ?? [];
    const source = key === undefined ? parameter : document.components?.parameters?.[key];
    return source?.in === 'path' && typeof source.name === 'string'
      ? { ...source, name: toRouterName(source.name) }
      : parameter;
  });
}

/**
 * The maximum number of letters in an operation's id. Files are named after it, and most file systems allow 255 bytes
 * in a name.
 */
const MOST_LETTERS = 200;
const ID = new RegExp(`^[A-Za-z][\\w-]{0,${MOST_LETTERS - 1}}$`);

/**
 * Gives a new id to an operation if its id is missing, is a duplicate, or cannot be a file name. Handlers, routes and
 * types are named after the ids.
 */
export function withIds(document: Document): Document {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    operationsOf(resolvedItem(item, document)).map(([method, operation]) => ({ path, method, operation })),
  );
  // Compares ids in lower case, because on some file systems `findItem.ts` and `finditem.ts` are the same file.
  const taken = new Set<string>();
  const take = (id: string) => ID.test(id) && !taken.has(id.toLowerCase()) && taken.add(id.toLowerCase());
  const unnamed = all.filter(({ operation }) => !take(operation.operationId ?? ''));
  if (unnamed.length === 0) return document;
  const ids = new Map<string, string>();
  for (const { path, method, operation } of unnamed) {
    const derived = derive(method, path).slice(0, MOST_LETTERS - 10);
    let id = [toWords(operation.operationId ?? ''), derived].find(take);
    for (let number = 2; id === undefined; number++) id = [`${derived}${number}`].find(take);
    ids.set(`${method} ${path}`, id);
  }
  return mapPaths(document, (item, path) =>
    mapOperations(resolvedItem(item, document), (operation, method) => {
      const operationId = ids.get(`${method} ${path}`);
      return operationId === undefined ? operation : { ...operation, operationId };
    }),
  );
}

/**
 * Returns the path item that `$ref` leads to, or the item itself if it does not contain a `$ref`. Two paths may refer
 * to the same path item. Then its operations occur twice, with the same ids.
 */
export function resolvedItem(item: PathItem, document: object, seen = new Set<PathItem>()): PathItem {
  const target = isNode(item) && !seen.has(item) ? lookUp(document, item.$ref) : undefined;
  return target === undefined ? item : resolvedItem(target as PathItem, document, seen.add(item));
}

/**
 * Derives an operation's id from method and path, as fastify-openapi-glue does: `GET /users/{name}` gives
 * `getUsersByName`.
 */
function derive(method: string, path: string): string {
  return toWords(`${method} ${path.replace(/\{([^{}]*)\}/g, ' by $1')}`);
}

const toWords = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word, index) => (index === 0 ? word : `${word[0]?.toUpperCase()}${word.slice(1)}`))
    .join('');

/**
 * Removes the bodies of GET and HEAD requests, because they are meaningless (RFC 9110, section 9.3.1), OpenAPI 3.0
 * ignores them, and Fastify does not read them. Also puts HEAD first in each path item. For a GET route, Fastify adds a
 * HEAD route if the path still lacks one, so the contract's own HEAD route must be added before.
 */
export function withGetAndHead(document: Document): Document {
  const withoutBody = ({ requestBody: _, ...operation }: OperationNode): OperationNode => operation;
  return mapPaths(document, ({ head, ...item }) => ({
    ...(head && { head: withoutBody(head) }),
    ...item,
    ...(item.get && { get: withoutBody(item.get) }),
  }));
}
