/**
 * Reads the operations of a contract, with all references resolved. It uses no code of `src/`, so that both do not make
 * the same mistake.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Json } from '../any-json.ts';
import type { KeyPlace } from './keys.ts';

/** How many times a recursive schema is resolved inside itself. */
const DEPTH = 2;

/** Stands in place of a recursive schema that is not resolved any further. */
const END = { 'x-end': true };
const isEnd = (node: Json) => node?.['x-end'] === true;

/**
 * Replaces each `$ref` by its target. Keywords next to a `$ref` are added to the target (OpenAPI 3.1, section 4.8.24).
 */
function resolve(node: Json, document: Json, open: string[] = []): Json {
  if (Array.isArray(node)) return node.map((item) => resolve(item, document, open));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, ...rest } = node;
  const entries = Object.entries(rest).map(([key, value]) => [key, resolve(value, document, open)]);
  const own = Object.fromEntries(entries);
  if (typeof $ref !== 'string') return withoutEnds(withTags(node, own));
  if (open.filter((other) => other === $ref).length >= DEPTH) return END;
  const keys = $ref.slice(2).split('/');
  const target = keys.reduce((parent, key) => parent[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
  return { ...resolve(target, document, [...open, $ref]), ...own };
}

/** Removes the fields, items and alternatives of a schema that would recurse any further. */
function withoutEnds(node: Json): Json {
  const { properties = {}, required = [], items, oneOf, anyOf } = node;
  const ended = Object.keys(properties).filter((name) => isEnd(properties[name]));
  if (ended.some((name) => required.includes(name))) return END;
  for (const name of ended) delete properties[name];
  if (isEnd(node.additionalProperties)) delete node.additionalProperties;
  if (isEnd(items)) return { type: node.type, 'x-empty': true };
  const alternatives: Json[] | undefined = oneOf ?? anyOf;
  const left = alternatives?.filter((alternative) => !isEnd(alternative));
  if (left?.length === 0) return END;
  return left ? { ...node, [oneOf ? 'oneOf' : 'anyOf']: left } : node;
}

/**
 * Adds the values of the discriminator to the alternatives of a schema, unless they declare them (OpenAPI 3.1, section
 * 4.8.25).
 */
function withTags(source: Json, node: Json): Json {
  const { discriminator, oneOf } = node;
  if (!discriminator?.propertyName || !Array.isArray(oneOf)) return node;
  const { propertyName, mapping = {} } = discriminator;
  const tagged = oneOf.map((branch, index) => {
    const own = branch.properties?.[propertyName];
    const { $ref = '' } = source.oneOf[index];
    const mapped = Object.keys(mapping).filter((name) => mapping[name] === $ref);
    const names = mapped.length > 0 ? mapped : (own?.enum ?? [own?.const ?? $ref.split('/').at(-1)]);
    const properties = { ...branch.properties, [propertyName]: { type: 'string', enum: names } };
    return { ...branch, properties, required: [...new Set([...(branch.required ?? []), propertyName])] };
  });
  return { ...node, oneOf: tagged };
}

/** Removes read-only fields from a schema, and lists them in `x-read-only`. */
function withoutReadOnly(node: Json): Json {
  if (Array.isArray(node)) return node.map(withoutReadOnly);
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withoutReadOnly(value)]));
  const names = Object.keys(node.properties ?? {}).filter((name) => node.properties[name].readOnly === true);
  if (names.length === 0) return kept;
  kept['x-read-only'] = Object.fromEntries(names.map((name) => [name, kept.properties[name]]));
  for (const name of names) delete kept.properties[name];
  kept.required = (node.required ?? []).filter((name: string) => !names.includes(name));
  return kept;
}

export type { Json };

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  /** How an array is written: `a=1&a=2`, or `a=1,2`. */
  list: 'repeated' | 'joined' | undefined;
  /** True if only the server makes values of this parameter, such as cursors, which clients get from its links. */
  isOpaque: boolean;
  /** True if the parameter makes a request take effect once: an `Idempotency-Key`. */
  isKept: boolean;
  schema: Json;
}

/** An operation. If its body may have several media types, each of them makes its own `Operation`. */
export interface Operation {
  id: string;
  /** The id, followed by the media type if the body may have several. */
  name: string;
  /** The method in capitals, such as `GET`. */
  method: string;
  /** The path with its prefix, such as `/v1/pets/{petId}`. */
  path: string;
  parameters: Parameter[];
  body: { required: boolean; maxBytes: number | undefined; type: string; schema: Json } | undefined;
  isSecured: boolean;
  /** The locations in which a key may be sent. */
  keyPlaces: KeyPlace[];
  /** The scopes that a key needs; empty if one of several alternative requirements needs none. */
  scopes: string[];
  /** The responses of the contract, by status. */
  responses: Record<string, Json>;
}

/** The checked-in contract, as YAML. */
export const CONTRACT = readFileSync(new URL('../../openapi/petstore.yaml', import.meta.url), 'utf8');

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'patch'];

/** Returns the path of the first server: `/v1` for `https://host/v1`. */
export const prefixOf = ({ servers }: Json): string =>
  (servers?.[0].url ?? '').replace(/^[\w{}]+:\/\/[^/]+|\/$/g, '').replace(/\/$/, '');

export function readOperations(yaml: string): Operation[] {
  const source = yaml.startsWith('{') ? JSON.parse(yaml) : parse(yaml);
  const document = resolve(source, source);
  const prefix = prefixOf(document);
  return Object.entries<Json>(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).flatMap((method): Operation[] => {
      const { operationId, parameters = [], requestBody, security = document.security ?? [], responses } = item[method];
      const operation = {
        id: operationId,
        name: operationId,
        method: method.toUpperCase(),
        path: prefix + path,
        parameters: [...(item.parameters ?? []), ...parameters].map(toParameter),
        body: undefined,
        isSecured: security.length > 0 && security.every((way: Json) => Object.keys(way).length > 0),
        keyPlaces: security.flatMap((way: Json) =>
          Object.keys(way).map((name) => toKeyPlace(document.components.securitySchemes[name])),
        ),
        scopes: toScopes(security),
        responses,
      };
      if (!requestBody) return [operation];
      const bodies = toBodies(requestBody);
      const nameOf = (type: string) => (bodies.length > 1 ? `${operationId} as ${type}` : operationId);
      return bodies.map((body) => ({ ...operation, name: nameOf(body.type), body }));
    }),
  );
}

function toKeyPlace({ type, scheme, in: place, name }: Json): KeyPlace {
  if (type === 'apiKey') return { in: place, name };
  return { in: scheme === 'basic' ? 'basic' : 'bearer', name: 'Authorization' };
}

function toScopes(security: Json[]): string[] {
  const ways: string[][] = security.map((way) => Object.values<string[]>(way).flat());
  return ways.some((scopes) => scopes.length === 0) ? [] : ways.flat();
}

function toParameter(source: Json): Parameter {
  const {
    name,
    in: place,
    required = false,
    schema,
    explode = place === 'query',
    'x-opaque': isOpaque = false,
  } = source;
  const isKept = place === 'header' && name.toLowerCase() === 'idempotency-key';
  const list = schema.type === 'array' ? (explode && place === 'query' ? 'repeated' : 'joined') : undefined;
  return { name, in: place, required, list, isOpaque, isKept, schema };
}

function toBodies({ required = false, content, 'x-max-bytes': maxBytes }: Json): NonNullable<Operation['body']>[] {
  return Object.entries<Json>(content).map(([type, { schema = {} }]) => ({
    required,
    maxBytes,
    type,
    schema: withoutReadOnly(schema),
  }));
}

/** Returns the key of the response that documents a status: the status, its range, or `default`. */
export function responseKeyOf({ responses }: Operation, status: number): string | undefined {
  return [String(status), `${String(status)[0]}XX`, 'default'].find((key) => key in responses);
}
