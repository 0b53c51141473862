/**
 * The types of an OpenAPI document's nodes, with the fields that the package reads. The build has validated the
 * document (`validity.ts`).
 */
import type { Schema } from '../schema/json.ts';

export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
export type Method = (typeof METHODS)[number];

type Named<Node> = Record<string, Node>;

/** A node of a document. A node may contain other fields, or be a reference. */
interface Node {
  $ref?: string;
  [other: string]: unknown;
}

export interface Document extends Node {
  openapi: string;
  info: {
    title: string;
    version: string;
    description?: string;
    contact?: { name?: string; url?: string; email?: string };
  };
  servers?: ServerNode[];
  tags?: { name: string; description?: string }[];
  paths: Named<PathItem>;
  webhooks?: Named<PathItem>;
  components?: {
    schemas?: Named<Schema>;
    parameters?: Named<ParameterNode>;
    pathItems?: Named<PathItem>;
    securitySchemes?: Named<SchemeNode>;
  };
  security?: SecurityNode[] | undefined;
}

/** A document with every reference replaced by its target. */
export interface ResolvedDocument extends Document {
  components: { securitySchemes: Named<SchemeNode> };
}

export interface ServerNode extends Node {
  url: string;
  description?: string;
  variables?: Named<{ default: string }>;
}

/** The server of a document without `servers` (OpenAPI 3.1, section 4.8.1.1). */
export const ROOT_SERVER: ServerNode = { url: '/' };

/** Returns the URL of a server, with its variables replaced by their defaults. */
export const toFilledUrl = ({ url, variables }: ServerNode): string =>
  url.replace(/\{([^{}]*)\}/g, (_, name) => String(Object(variables)[name]?.default ?? ''));

const ORIGIN = /^([a-z][a-z0-9+.-]*:)?\/\/[^/]*/i;

/**
 * Returns the path of a server's URL without trailing slashes: `/v1` for `https://host/v1`, `//host/v1`, `{origin}/v1`
 * and `/v1`.
 */
export const toPathPrefix = (server: ServerNode): string =>
  toFilledUrl(server)
    .replace(ORIGIN, '')
    .replace(/(?<!\/)\/+$/, '');

/** True if the URL of a server is relative to the URL of the document. */
export const isRelative = (url: string): boolean => !ORIGIN.test(url);

/** A security requirement: a map from the name of a security scheme to the scopes that are needed. */
export type SecurityNode = Named<string[]>;

export interface SchemeNode extends Node {
  type: string;
  description?: string;
  scheme?: string;
  bearerFormat?: string;
  in?: 'query' | 'header' | 'cookie';
  name?: string;
  flows?: Named<{ scopes?: Named<string> }>;
}

export interface PathItem extends Node, Partial<Record<Method, OperationNode>> {
  parameters?: ParameterNode[];
  servers?: ServerNode[];
}

export interface OperationNode extends Node {
  /** The operationId. In the normal form (`contract/read/normal-form.ts`) it is always set. */
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: ParameterNode[];
  requestBody?: BodyNode;
  responses?: Named<ResponseNode>;
  security?: SecurityNode[];
  deprecated?: boolean;
  'x-deprecated-at'?: string;
  'x-sunset'?: string;
  'x-successor'?: string;
  'x-fastify-config'?: object;
}

/** A node with a schema and examples for it, such as a parameter, a header or a media type. */
export interface ValueNode extends Node {
  schema?: Schema | undefined;
  example?: unknown;
  examples?: Named<ExampleNode>;
}

export interface ParameterNode extends ValueNode {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  description?: string;
  required?: boolean;
  content?: Named<MediaNode>;
  style?: string;
  explode?: boolean;
  'x-opaque'?: boolean;
  'x-idempotency-hours'?: number;
}

export interface MediaNode extends ValueNode {
  encoding?: Named<EncodingNode>;
}

type ExampleNode = Node & { summary?: string; value?: unknown };
export type EncodingNode = Node & { contentType?: string; style?: string; explode?: boolean };
export type BodyNode = Node & {
  required?: boolean;
  description?: string;
  content: Named<MediaNode>;
  'x-max-bytes'?: number;
};
export type HeaderNode = Node & {
  required?: boolean;
  description?: string;
  schema?: Schema;
  content?: Named<MediaNode>;
};
export type LinkNode = Node & { operationId?: string; operationRef?: string; parameters?: Named<unknown> };

export interface ResponseNode extends Node {
  description: string;
  headers?: Named<HeaderNode>;
  content?: Named<MediaNode>;
  links?: Named<LinkNode>;
}

/** Returns the operations of a path item, with their methods. */
export const operationsOf = (item: PathItem): [Method, OperationNode][] =>
  METHODS.flatMap((method) => (item[method] ? [[method, item[method]] as [Method, OperationNode]] : []));

/** Copies a path item, and replaces each of its operations by the result of `make`. */
export function mapOperations(item: PathItem, make: (one: OperationNode, method: Method) => OperationNode): PathItem {
  const made = operationsOf(item).map(([method, operation]) => [method, make(operation, method)]);
  return { ...item, ...Object.fromEntries(made) };
}

/** Returns the path item and the Operation Object of an operation, as they are in the document. */
export function nodesOf({ paths }: Document, { path, method }: { path: string; method: string }) {
  const item = paths[path] as PathItem;
  return { item, source: item[method.toLowerCase() as Method] as OperationNode };
}

/** True if the parameter is the header `Idempotency-Key`. */
export const isKey = ({ name, in: location }: Pick<ParameterNode, 'name' | 'in'>): boolean =>
  location === 'header' && name.toLowerCase() === 'idempotency-key';
