/** The parameters of an operation, and whether they fit its path. */

import { findInt64s } from '../schema/int64-places.ts';
import type { Json, Refuse } from '../schema/json.ts';
import type { Parameter } from './contract.ts';

/** How values are written in each place: the only styles that are supported. They are what OpenAPI takes where none is named. */
const STYLES: Record<string, string> = { path: 'simple', query: 'form', header: 'simple' };
/** The types of values that are written as text. */
const TYPES = ['string', 'integer', 'number', 'boolean'];
/** Headers that OpenAPI says to ignore as parameters (OpenAPI 3.1, section 4.8.12.1): other parts of the contract speak of them. */
const IGNORED = ['accept', 'content-type', 'authorization'];

/** `sources` has those of the path item first: an operation's parameter overrides the one of the same name and place. */
export function toParameters(path: string, sources: Json[], refuse: Refuse): Parameter[] {
  const byName = new Map<string, Parameter>();
  for (const source of sources.filter((one) => !isIgnored(one))) {
    const { name, in: place, required = false, schema } = source;
    const { 'x-opaque': isOpaque = false, 'x-kept-hours': keptHours } = source;
    const problem = findUnsupported(source) ?? findUnkept(source);
    if (problem) refuse(`parameter ${name}: ${problem}`);
    const int64s = findInt64s(schema ?? true, `parameter ${name}`, refuse);
    const parameter = { name, in: place, required, schema, int64s, list: toList(source), isOpaque, keptHours };
    byName.set(`${place} ${place === 'header' ? name.toLowerCase() : name}`, parameter);
  }
  const parameters = [...byName.values()];
  checkPath(path, parameters, refuse);
  checkLimit(parameters, refuse);
  return parameters;
}

const isIgnored = ({ name, in: place }: Json) => place === 'header' && IGNORED.includes(name.toLowerCase());

function findUnsupported({
  in: place,
  schema,
  style = STYLES[place],
  allowEmptyValue,
  'x-opaque': isOpaque,
}: Json): string | undefined {
  if (!(place in STYLES)) return `in ${place} is not supported`;
  if (style !== STYLES[place]) return `style ${style} is not supported`;
  if (allowEmptyValue) return 'allowEmptyValue is not supported';
  if (isOpaque && schema?.default !== undefined) return 'x-opaque is given out by the server: no default';
  if (isSimple(schema)) return undefined;
  if (place === 'path') return 'needs a schema of simple types';
  const isList = schema?.type === 'array' && isSimple(schema.items) && !schema.prefixItems;
  return isList ? undefined : 'needs a schema of simple types, or of an array of them';
}

export const isSimple = (schema: Json): boolean =>
  schema !== undefined && typesOf(schema).every((type) => TYPES.includes(type));

/** Which a value may have; text, where its schema says nothing. */
export function typesOf(schema: Json): string[] {
  const types = [...new Set(saidTypes(schema))].filter((type) => type !== 'null');
  return types.length > 0 ? types : ['string'];
}

function saidTypes({ type = [], enum: values = [], allOf = [], anyOf = [], oneOf = [] }: Json): string[] {
  const parts: string[] = [...allOf, ...anyOf, ...oneOf].flatMap(saidTypes);
  const own: string[] = [type].flat();
  return own.length + parts.length > 0 ? [...own, ...parts] : values.map((value: unknown) => typeof value);
}

/** A key that is kept for no time would promise that a request is done once, and not keep it. */
function findUnkept({ name, in: place, 'x-kept-hours': hours }: Json): string | undefined {
  if (place !== 'header' || name.toLowerCase() !== 'idempotency-key') {
    return hours === undefined ? undefined : 'x-kept-hours is for the header Idempotency-Key only';
  }
  // A plain header, whose meaning is the handler's.
  if (hours === undefined) return undefined;
  return Number.isInteger(hours) && hours > 0 ? undefined : 'needs x-kept-hours, for how many hours it is known';
}

function toList({ in: place, schema, explode = place === 'query' }: Json): Parameter['list'] {
  if (schema?.type !== 'array') return undefined;
  return place === 'query' && explode ? 'repeated' : 'joined';
}

/** How many records a page has at most. */
export function findLimit(parameters: Parameter[]): Parameter | undefined {
  return parameters.find(({ name, in: place }) => name === 'limit' && place === 'query');
}

/** A page with no items has no next one, and fewer than none are all. */
function checkLimit(parameters: Parameter[], refuse: Refuse): void {
  const limit = findLimit(parameters);
  if (!limit || !parameters.some(({ isOpaque }) => isOpaque)) return;
  const { type, minimum = 0 } = limit.schema;
  if (type !== 'integer' || minimum < 1) refuse('parameter limit: a page needs type: integer and minimum: 1 or more');
}

function checkPath(path: string, parameters: Parameter[], refuse: Refuse): void {
  const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name as string);
  for (const name of inPath) {
    if (!declared.includes(name)) refuse(`path parameter {${name}} is not declared`);
  }
  for (const name of declared) {
    if (!inPath.includes(name)) refuse(`parameter ${name} is not in the path`);
  }
}
