/** The operations of the contract as its own words describe them, with references replaced; without any code of `src/`. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Json } from '../any-json.ts';
import type { KeyPlace } from './keys.ts';
import { resolve, withoutReadOnly } from './references.ts';

export type { Json };

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  /** How an array is written: `a=1&a=2`, or `a=1,2`. */
  list: 'repeated' | 'joined' | undefined;
  /** Its values are never made up by a client: they come from the server's own links. */
  isOpaque: boolean;
  /** Whether it makes a request be done once: an `Idempotency-Key`. */
  isKept: boolean;
  schema: Json;
}

/** Where a body may have several media types, there is one for each. */
export interface Operation {
  id: string;
  /** The id, and the media type where there are several. */
  name: string;
  /** In capitals: `GET`. */
  method: string;
  /** With the prefix: `/v1/pets/{petId}`. */
  path: string;
  parameters: Parameter[];
  body: { required: boolean; maxBytes: number | undefined; type: string; schema: Json } | undefined;
  isSecured: boolean;
  /** Where a key may be sent. */
  keyPlaces: KeyPlace[];
  /** What a key must be allowed; empty where one of several ways in needs nothing. */
  scopes: string[];
  /** By status, as the contract has them. */
  responses: Record<string, Json>;
}

/** The checked-in contract, as YAML. */
export const CONTRACT = readFileSync(new URL('../../openapi/petstore.yaml', import.meta.url), 'utf8');

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'patch'];

/** The path of the first server: `/v1` for `https://host/v1`. */
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

/** The key of the response that documents a status: of itself, of its range, or `default`. */
export function responseKeyOf({ responses }: Operation, status: number): string | undefined {
  return [String(status), `${String(status)[0]}XX`, 'default'].find((key) => key in responses);
}
