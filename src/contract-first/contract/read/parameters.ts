/** Reads the parameters of an operation, and checks that they fit its path. */
import type { Parameter, ParameterStyle } from '../../engine/contract/contract.ts';
import { isKey, type ParameterNode } from '../../engine/contract/document.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import { PLAIN_JSON } from '../../engine/contract/replies.ts';
import {
  type ContractProblem,
  keywordsOf,
  type ReportProblem,
  reportIn,
  type Schema,
} from '../../engine/schema/json.ts';
import { isList, isSimple, mergeAllOf, typesOf } from '../../engine/schema/value-types.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { findInt64s } from './keyword-types.ts';

/** The default `style` of parameters in each location. */
const STYLES: Record<string, string> = { path: 'simple', query: 'form', header: 'simple' };
/** Further values of `style` for query parameters: two for arrays that are not exploded, and one for objects. */
const OF_ARRAYS: Record<string, ParameterStyle> = { spaceDelimited: 'spaced', pipeDelimited: 'piped' };
const QUERY_STYLES: Record<string, ParameterStyle> = { ...OF_ARRAYS, deepObject: 'deep' };
/**
 * Headers that OpenAPI ignores as parameters, because other parts of the contract describe them (OpenAPI 3.1, section
 * 4.8.12.1).
 */
const IGNORED = ['accept', 'content-type', 'authorization'];

/**
 * Reads the parameters of an operation. `sources` lists the parameters of the path item first: a parameter of the
 * operation overrides one with the same name and location. `isPaged` is true if replies contain a link to the next
 * page.
 */
export function toParameters(
  path: string,
  sources: ParameterNode[],
  isPaged: boolean,
  report: ReportProblem,
): Parameter[] {
  const byName = new Map<string, Parameter>();
  const cursor = isPaged ? findCursor(sources) : undefined;
  for (const source of sources.filter((one) => !isIgnored(one))) {
    const { name, in: location, required = false, content } = source;
    const isOpaque = source['x-opaque'] ?? source === cursor;
    const { 'x-idempotency-hours': keptHours = isKey(source) ? USUAL_HOURS : undefined } = source;
    const said = content ? content[PLAIN_JSON]?.schema : source.schema;
    const writing = toWriting({ ...source, schema: said });
    const problem =
      findUnsupported({ ...source, schema: said, 'x-opaque': isOpaque }, writing) ??
      findUnkept(source) ??
      findShared(path, source, writing);
    const reportParameter = reportIn(report, toPointerOf('parameters', name));
    if (problem) reportParameter(`parameter ${name}: ${problem.words}`, problem.pointer);
    const schema = said ?? true;
    const int64s = findInt64s(schema, `parameter ${name}`, reportParameter);
    const read = { int64s, writing: writing ?? 'text', isOpaque, keptHours };
    const parameter = { name, in: location as Parameter['in'], required, schema, ...read };
    byName.set(`${location} ${location === 'header' ? name.toLowerCase() : name}`, parameter);
  }
  const parameters = [...byName.values()];
  reportPath(path, parameters, report);
  reportLimit(parameters, report);
  return parameters;
}

/** Matches the common names of a parameter for a page's cursor, in upper or lower case. */
const CURSOR_NAME =
  /^(after|cursor|marker|(page|next|next[_-]?page|continuation)[_-]?token|(start|starting|page)[_-]?(after|cursor))$/i;

/**
 * Finds the query parameter that contains the cursor, by its name. Returns undefined if a parameter has `x-opaque:
 * true`, because the contract then names the cursor itself. Skips parameters with `x-opaque: false`.
 */
function findCursor(sources: ParameterNode[]): ParameterNode | undefined {
  const ofQuery = sources.filter((source) => source.in === 'query');
  if (ofQuery.some((source) => source['x-opaque'])) return undefined;
  return ofQuery.find((source) => source['x-opaque'] === undefined && CURSOR_NAME.test(source.name));
}

const isIgnored = ({ name, in: location }: ParameterNode) =>
  location === 'header' && IGNORED.includes(name.toLowerCase());

/** For each `style` of query parameters, a description of the schemas that it allows. */
const STYLE_NEEDS: Record<string, string> = {
  deepObject: 'an object of simple values and arrays of them',
  spaceDelimited: 'an array of simple values, and no explode: true',
  pipeDelimited: 'an array of simple values, and no explode: true',
};

function findUnsupported(source: ParameterNode, writing: ParameterStyle | undefined): ContractProblem | undefined {
  const { in: location, schema, style = STYLES[location], allowEmptyValue, 'x-opaque': isOpaque } = source;
  if (!(location in STYLES)) return { words: `in ${location} is not supported`, pointer: '/in' };
  if (style !== STYLES[location] && writing !== QUERY_STYLES[style as string]) {
    const needed = location === 'query' && STYLE_NEEDS[style as string];
    const lack = needed ? `needs ${needed}${oddFieldIn(schema)}` : 'is not supported';
    return { words: `style ${style} ${lack}`, pointer: '/style' };
  }
  if (allowEmptyValue) return { words: 'allowEmptyValue is not supported', pointer: '/allowEmptyValue' };
  if (isOpaque && keywordsOf(schema).default !== undefined)
    return { words: 'a cursor is given out by the server: no default', pointer: '/schema/default' };
  const words = `needs a schema of simple types, or of an array of them${oddFieldIn(schema)}`;
  return writing ? undefined : { words, pointer: '/schema' };
}

/** Returns how a parameter's value is written in the request, or undefined if the server cannot read it. */
function toWriting({
  in: location,
  schema,
  content,
  style = STYLES[location],
  explode,
}: ParameterNode): ParameterStyle | undefined {
  if (schema === undefined) return undefined;
  if (content) return location === 'query' ? 'json' : undefined;
  if (isSimple(schema)) return 'text';
  if (isList(schema)) {
    const own = explode ? undefined : OF_ARRAYS[style as string];
    return own ?? (location === 'query' && explode !== false ? 'repeated' : 'joined');
  }
  if (location !== 'query' || !isFlat(schema)) return undefined;
  if (style === 'deepObject') return 'deep';
  return explode === false ? undefined : 'fields';
}

/**
 * Returns the end of a message with the name of the first field that is neither simple nor an array of simple values.
 * If every field is allowed, returns an empty text.
 */
function oddFieldIn(schema: Schema = true): string {
  const { properties = {} } = mergeAllOf(schema);
  const [odd] = Object.entries(properties).find(([, field]) => !isField(field)) ?? [];
  return odd === undefined ? '' : `: ${odd} is neither`;
}

const isField = (field: Schema) => isSimple(field) || isList(field);

/** True if a schema describes an object with only simple values and arrays of simple values as its fields. */
function isFlat(schema: Schema): boolean {
  const { properties = {}, additionalProperties = {} } = mergeAllOf(schema);
  const { anyOf, oneOf } = keywordsOf(schema);
  const isObject = typesOf(schema).every((type) => type === 'object') && !anyOf && !oneOf;
  return isObject && [...Object.values(properties), additionalProperties].every(isField);
}

/**
 * Reports an array that shares a path segment with other text. The server splits the whole segment into items, so the
 * text would become part of an item.
 */
function findShared(
  path: string,
  { name, in: location }: ParameterNode,
  writing: ParameterStyle | undefined,
): ContractProblem | undefined {
  const isAlone = path.split('/').includes(`{${name}}`);
  return location === 'path' && writing === 'joined' && !isAlone
    ? { words: 'an array needs its own part of the path' }
    : undefined;
}

/**
 * The maximum of `x-idempotency-hours`, about 1,000 years, so that the time of expiry in milliseconds is an exact
 * number.
 */
const MOST_HOURS = 8_760_000;

/**
 * The default of `x-idempotency-hours`: a contract that declares Idempotency-Key promises that a request takes effect
 * once.
 */
const USUAL_HOURS = 24;

/** Finds an invalid `x-idempotency-hours`, or one at a parameter other than Idempotency-Key. */
function findUnkept({ 'x-idempotency-hours': hours, ...source }: ParameterNode): ContractProblem | undefined {
  const pointer = '/x-idempotency-hours';
  if (hours === undefined) return undefined;
  if (!isKey(source)) return { words: 'x-idempotency-hours is for the header Idempotency-Key only', pointer };
  const words = `x-idempotency-hours is ${JSON.stringify(hours)}, and must be a whole number of hours, 1 to ${MOST_HOURS}`;
  return Number.isInteger(hours) && hours > 0 && hours <= MOST_HOURS ? undefined : { words, pointer };
}

/** Finds the query parameter `limit`, the maximum number of records in a page. */
export function findLimit(parameters: Parameter[]): Parameter | undefined {
  return parameters.find(({ name, in: location }) => name === 'limit' && location === 'query');
}

/** Reports a `limit` that may be below 1, because a page without items cannot lead to the next page. */
function reportLimit(parameters: Parameter[], report: ReportProblem): void {
  const limit = findLimit(parameters);
  if (!limit || !parameters.some(({ isOpaque }) => isOpaque)) return;
  const { type, minimum = 0 } = keywordsOf(limit.schema);
  if (type !== 'integer' || minimum < 1)
    report('parameter limit: a page needs type: integer and minimum: 1 or more', '/parameters/limit');
}

function reportPath(path: string, parameters: Parameter[], report: ReportProblem): void {
  const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const inPath = namesIn(path);
  const twice = inPath.find((name, index) => inPath.indexOf(name) < index);
  if (twice)
    report(
      `path parameter {${twice}} is in the path twice: give the two parameters different names`,
      toPointerOf('parameters', twice),
    );
  for (const name of inPath) {
    if (!declared.includes(name)) report(`path parameter {${name}} is not declared`, toPointerOf('parameters', name));
  }
  for (const name of declared) {
    if (!inPath.includes(name)) report(`parameter ${name} is not in the path`, toPointerOf('parameters', name));
  }
}
