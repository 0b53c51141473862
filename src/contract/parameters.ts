/** The parameters of an operation, and whether they fit its path. */

import { findInt64s } from '../schema/int64-places.ts';
import type { Json, Refuse } from '../schema/json.ts';
import type { Parameter } from './contract.ts';

/** How values are written in each place: the only styles that are supported. They are what OpenAPI takes where none is named. */
const STYLES: Record<string, string> = { path: 'simple', query: 'form', header: 'simple' };
/** The types of values that are written as text. */
export const TYPES = ['string', 'integer', 'number', 'boolean'];
/** Headers that OpenAPI says to ignore as parameters (OpenAPI 3.1, section 4.8.12.1): other parts of the contract speak of them. */
const IGNORED = ['accept', 'content-type', 'authorization'];

/** `sources` has those of the path item first: an operation's parameter overrides the one of the same name and place. */
export function toParameters(path: string, sources: Json[], refuse: Refuse): Parameter[] {
  const byName = new Map<string, Parameter>();
  for (const source of sources) {
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

function findUnsupported({
  name,
  in: place,
  schema,
  style = STYLES[place],
  allowEmptyValue,
  'x-opaque': isOpaque,
}: Json): string | undefined {
  if (!(place in STYLES)) return `in ${place} is not supported`;
  if (place === 'header' && IGNORED.includes(name.toLowerCase())) return 'OpenAPI ignores it in header; remove it';
  if (style !== STYLES[place]) return `style ${style} is not supported`;
  if (allowEmptyValue) return 'allowEmptyValue is not supported';
  if (isOpaque && schema?.default !== undefined) return 'x-opaque is given out by the server: no default';
  if (TYPES.includes(schema?.type)) return undefined;
  if (place === 'path') return 'needs a schema of one simple type';
  const isList = schema?.type === 'array' && TYPES.includes(schema.items?.type) && !schema.prefixItems;
  return isList ? undefined : 'needs a schema of one simple type, or of an array of one';
}

/** A key that is kept for no time would promise that a request is done once, and not keep it. */
function findUnkept({ name, in: place, 'x-kept-hours': hours }: Json): string | undefined {
  if (place !== 'header' || name.toLowerCase() !== 'idempotency-key') {
    return hours === undefined ? undefined : 'x-kept-hours is for the header Idempotency-Key only';
  }
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
    if (!/^\w+$/.test(name)) refuse(`path parameter {${name}} may have letters, digits and _ only`);
    if (!declared.includes(name)) refuse(`path parameter {${name}} is not declared`);
  }
  for (const name of declared) {
    if (!inPath.includes(name)) refuse(`parameter ${name} is not in the path`);
  }
}
