/** The parameters of an operation, and whether they fit its path. */

import { findInt64s } from '../schema/int64-map.ts';
import { type Keywords, keywordsOf, type Refuse, type Schema } from '../schema/json.ts';
import { mergeAllOf } from '../schema/subsets.ts';
import type { Parameter, Writing } from './contract.ts';
import type { ParameterNode } from './document.ts';
import { PLAIN_JSON } from './media-types.ts';

/** How values are written in each place, where no style is named; no other is supported, beside `deepObject`. */
const STYLES: Record<string, string> = { path: 'simple', query: 'form', header: 'simple' };
/** The types of values that are written as text. */
const TYPES = ['string', 'integer', 'number', 'boolean'];
/** Headers that OpenAPI says to ignore as parameters (OpenAPI 3.1, section 4.8.12.1): other parts of the contract speak of them. */
const IGNORED = ['accept', 'content-type', 'authorization'];

/** `sources` has those of the path item first: an operation's parameter overrides the one of the same name and place. */
export function toParameters(path: string, sources: ParameterNode[], refuse: Refuse): Parameter[] {
  const byName = new Map<string, Parameter>();
  for (const source of sources.filter((one) => !isIgnored(one))) {
    const { name, in: place, required = false, content } = source;
    const { 'x-opaque': isOpaque = false, 'x-kept-hours': keptHours } = source;
    const said = content ? content[PLAIN_JSON]?.schema : source.schema;
    const writing = toWriting({ ...source, schema: said });
    const problem =
      findUnsupported({ ...source, schema: said }, writing) ?? findUnkept(source) ?? findShared(path, source, writing);
    if (problem) refuse(`parameter ${name}: ${problem}`);
    const schema = said ?? true;
    const int64s = findInt64s(schema, `parameter ${name}`, refuse);
    const read = { int64s, writing: writing ?? 'text', isOpaque, keptHours };
    const parameter = { name, in: place as Parameter['in'], required, schema, ...read };
    byName.set(`${place} ${place === 'header' ? name.toLowerCase() : name}`, parameter);
  }
  const parameters = [...byName.values()];
  checkPath(path, parameters, refuse);
  checkLimit(parameters, refuse);
  return parameters;
}

const isIgnored = ({ name, in: place }: ParameterNode) => place === 'header' && IGNORED.includes(name.toLowerCase());

function findUnsupported(source: ParameterNode, writing: Writing | undefined): string | undefined {
  const { in: place, schema, style = STYLES[place], allowEmptyValue, 'x-opaque': isOpaque } = source;
  if (!(place in STYLES)) return `in ${place} is not supported`;
  if (style !== STYLES[place] && writing !== 'deep') return `style ${style} is not supported`;
  if (allowEmptyValue) return 'allowEmptyValue is not supported';
  if (isOpaque && keywordsOf(schema).default !== undefined) return 'x-opaque is given out by the server: no default';
  return writing ? undefined : 'needs a schema of simple types, or of an array of them';
}

/** Undefined where it is not known. */
function toWriting({ in: place, schema, content, style = STYLES[place], explode }: ParameterNode): Writing | undefined {
  if (schema === undefined) return undefined;
  if (content) return place === 'query' ? 'json' : undefined;
  if (isSimple(schema)) return 'text';
  if (isList(schema)) return place === 'query' && explode !== false ? 'repeated' : 'joined';
  if (place !== 'query' || !isFlat(schema)) return undefined;
  if (style === 'deepObject') return 'deep';
  return explode === false ? undefined : 'fields';
}

export const isSimple = (schema: Schema): boolean => typesOf(schema).every((type) => TYPES.includes(type));

/** Whether its values are arrays of simple ones; beside arrays, it may allow simple values, too. */
export function isList(schema: Schema): boolean {
  const types = typesOf(schema);
  const others = types.filter((type) => type !== 'array');
  const items = itemsOf(schema);
  return (
    others.length < types.length &&
    others.every((type) => TYPES.includes(type)) &&
    items !== undefined &&
    isSimple(items)
  );
}

/** Of the arrays that a schema allows; undefined where their places are not alike. */
export function itemsOf(schema: Schema): Schema | undefined {
  const all = partsOf(schema);
  const items = all.flatMap(({ items: own }): Schema[] => (own === undefined ? [] : [own]));
  if (all.some(({ prefixItems }) => prefixItems)) return undefined;
  return items.length > 1 ? { anyOf: items } : (items[0] ?? {});
}

/** An object whose fields are simple, or arrays of simple values. */
function isFlat(schema: Schema): boolean {
  const { properties = {}, additionalProperties = {} } = mergeAllOf(schema);
  const { anyOf, oneOf } = keywordsOf(schema);
  const isField = (field: Schema) => isSimple(field) || isList(field);
  const isObject = typesOf(schema).every((type) => type === 'object') && !anyOf && !oneOf;
  return isObject && [...Object.values(properties), additionalProperties].every(isField);
}

/** A schema, and those in it that speak of the same value. */
function partsOf(schema: Schema): Keywords[] {
  const keywords = keywordsOf(schema);
  const { allOf = [], anyOf = [], oneOf = [] } = keywords;
  return [keywords, ...[...allOf, ...anyOf, ...oneOf].flatMap(partsOf)];
}

/** Which a value may have; text, where its schema says nothing. */
export function typesOf(schema: Schema): string[] {
  const types = [...new Set(saidTypes(schema))].filter((type) => type !== 'null');
  return types.length > 0 ? types : ['string'];
}

function saidTypes(schema: Schema): string[] {
  const { type, properties, enum: values = [], allOf = [], anyOf = [], oneOf = [] } = keywordsOf(schema);
  const parts = [...allOf, ...anyOf, ...oneOf].flatMap(saidTypes);
  const own = [type ?? (properties ? 'object' : [])].flat();
  return own.length + parts.length > 0 ? [...own, ...parts] : values.map((value) => typeof value);
}

/** The items of an array are told apart before they are decoded, in a part of the path of their own. */
function findShared(
  path: string,
  { name, in: place }: ParameterNode,
  writing: Writing | undefined,
): string | undefined {
  const isAlone = path.split('/').includes(`{${name}}`);
  return place === 'path' && writing === 'joined' && !isAlone
    ? 'an array needs a part of the path of its own'
    : undefined;
}

/** A key that is kept for no time would promise that a request is done once, and not keep it. */
function findUnkept({ name, in: place, 'x-kept-hours': hours }: ParameterNode): string | undefined {
  if (place !== 'header' || name.toLowerCase() !== 'idempotency-key') {
    return hours === undefined ? undefined : 'x-kept-hours is for the header Idempotency-Key only';
  }
  // A plain header, whose meaning is the handler's.
  if (hours === undefined) return undefined;
  return Number.isInteger(hours) && hours > 0 ? undefined : 'needs x-kept-hours, for how many hours it is known';
}

/** How many records a page has at most. */
export function findLimit(parameters: Parameter[]): Parameter | undefined {
  return parameters.find(({ name, in: place }) => name === 'limit' && place === 'query');
}

/** A page with no items has no next one, and fewer than none are all. */
function checkLimit(parameters: Parameter[], refuse: Refuse): void {
  const limit = findLimit(parameters);
  if (!limit || !parameters.some(({ isOpaque }) => isOpaque)) return;
  const { type, minimum = 0 } = keywordsOf(limit.schema);
  if (type !== 'integer' || minimum < 1) refuse('parameter limit: a page needs type: integer and minimum: 1 or more');
}

function checkPath(path: string, parameters: Parameter[], refuse: Refuse): void {
  const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const inPath = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name as string);
  const twice = inPath.find((name, index) => inPath.indexOf(name) < index);
  if (twice) refuse(`path parameter {${twice}} is in the path twice: give each place a name`);
  for (const name of inPath) {
    if (!declared.includes(name)) refuse(`path parameter {${name}} is not declared`);
  }
  for (const name of declared) {
    if (!inPath.includes(name)) refuse(`parameter ${name} is not in the path`);
  }
}
