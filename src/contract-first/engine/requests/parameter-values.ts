/**
 * Converts the parameters of a request from text to the types of their schemas. The conversion depends on the location
 * and style of the parameter.
 */
import { NullProtoObject } from '../../json/exact-json.ts';
import { toPointerToken } from '../../json/pointer.ts';
import { type Operation, type Parameter, SEPARATORS } from '../contract/contract.ts';
import { Problem, problemAt } from '../errors/problem.ts';
import { type Int64Map, int64sUnder } from '../schema/int64-map.ts';
import type { Schema } from '../schema/json.ts';
import { isSimple, itemsOf, mergeAllOf, typesOf } from '../schema/value-types.ts';
import { type BuildIsValid, buildToValue, parseInner, REPEATED, type ToValue } from './text-coercion.ts';

/** The texts of parameters by name, as Fastify parses them. If a name was sent several times, its value is an array. */
export type Texts = Record<string, string | string[]>;
export type Values = Record<string, unknown>;

/**
 * Node's request, with the URL and the headers as they were sent. Fastify's parsed values no longer show the separators
 * of arrays, nor repeated headers.
 */
export interface Raw {
  url?: string | undefined;
  /** The headers as a list of alternating names and values. */
  rawHeaders: string[];
}

/** Converts the texts of parameters. Adds a problem to `problems` for each parameter that was sent more than once. */
type ToValues = (texts: Texts, problems: Problem[], raw: Raw) => Values;
type Read = (given: string | string[], problems: Problem[], raw: Raw) => unknown;

/**
 * Builds the conversion of the parameters at one location. Unknown parameters, and texts that do not fit the type of
 * their schema, stay text: the check of the request reports them later.
 */
export function buildToValues(
  { path, parameters }: Pick<Operation, 'path' | 'parameters'>,
  location: 'path' | 'query' | 'header',
  buildIsValid: BuildIsValid,
): ToValues {
  const own = parameters.filter((parameter) => parameter.in === location);
  const readOf = (parameter: Parameter) => buildRead(parameter, path, buildIsValid);
  const reads = new Map(own.filter((one) => !hasFields(one)).map((parameter) => [parameter.name, readOf(parameter)]));
  const findField = buildFindField(own, readOf);
  return (texts, problems, raw) => {
    const values: Values = new NullProtoObject();
    for (const name in texts) {
      const read = reads.get(name);
      if (read) values[name] = read(texts[name] as string | string[], problems, raw);
      else addOther(values, name, texts[name] as string | string[], problems, raw);
    }
    return values;
  };

  /**
   * Adds a parameter with an undeclared name to `values`: as the field of an object parameter if the name belongs to
   * one, and otherwise under its own name.
   */
  function addOther(values: Values, name: string, ...given: Parameters<Read>): void {
    const field = findField(name);
    if (field) {
      values[field.object] ??= new NullProtoObject();
      (values[field.object] as Values)[field.name] = field.read(...given);
    } else {
      const readUnknown: Read = buildReadOne(`/${location}/${toPointerToken(name)}`, (text) => text);
      values[name] = readUnknown(...given);
    }
  }
}

function buildRead(parameter: Parameter, path: string, buildIsValid: BuildIsValid): Read {
  const { name, in: location, schema, int64s, writing } = parameter;
  const at = `/${location}/${toPointerToken(name)}`;
  if (writing === 'json') return buildReadJson(at);
  if (writing === 'text') return buildReadOne(at, buildToValue(schema, int64s.isInt64, buildIsValid));
  const toItem = buildToValue(itemsOf(schema) as Schema, int64s.rest?.isInt64 === true, buildIsValid);
  if (writing === 'repeated') return buildReadRepeated(parameter, toItem, buildIsValid);
  // An array in a header may be sent in several header lines, and its empty items are ignored (RFC 9110, sections 5.3
  // and 5.6.1).
  if (location === 'header') return (given) => [given].flat().flatMap(toListItems).map(toItem);
  if (location === 'path') {
    const fromEnd = path.split('/').reverse().indexOf(`{${name}}`);
    return (_given, _problems, { url }) => toJoinedPart(url as string, fromEnd).map(toItem);
  }
  const { arrived: separator } = SEPARATORS[writing] as { arrived: RegExp };
  const readOne = buildReadOne(at, (text) => text);
  return (given, problems, { url }) => {
    readOne(given, problems);
    return toJoined(url as string, name, separator).map(toItem);
  };
}

const toListItems = (line: string) => line.split(',').flatMap((item) => item.trim() || []);

/**
 * Builds the reader of a parameter that may be sent several times. If the schema allows both a single value and an
 * array, a parameter that was sent once is read as a single value.
 */
function buildReadRepeated({ schema, int64s }: Parameter, toItem: ToValue, buildIsValid: BuildIsValid): Read {
  const readAll: Read = (given) => [given].flat().map(toItem);
  if (typesOf(schema).length === 1) return readAll;
  const toOne = buildToValue(schema, int64s.isInt64, buildIsValid);
  const isValid = buildIsValid(schema);
  return (given, problems, raw) => {
    const one = Array.isArray(given) ? undefined : toOne(given);
    return one !== undefined && isValid(one) ? one : readAll(given, problems, raw);
  };
}

function buildReadJson(at: string): Read {
  return (given, problems) => {
    const text = buildReadOne(at, (only) => only)(given, problems) as string;
    const inner = parseInner(text, at);
    if (inner instanceof Problem) problems.push(inner);
    return inner instanceof Problem ? text : inner;
  };
}

function buildReadOne(at: string, toValue: ToValue): (given: string | string[], problems: Problem[]) => unknown {
  return (given, problems) => {
    if (!Array.isArray(given)) return toValue(given);
    problems.push(problemAt(at, ...REPEATED));
    return toValue(given[0] as string);
  };
}

/** Converts header parameters. Adds a problem to `problems` for each one that was sent more than once. */
type ToHeaders = (headers: object, raw: Raw, problems: Problem[]) => Values;

/**
 * Builds the conversion of header parameters. The conversion reads `rawHeaders`: in Node's object of headers, the
 * second line of a repeated header is lost, or joined to the first line.
 */
export function buildToHeaders(parameters: Parameter[], buildIsValid: BuildIsValid): ToHeaders {
  const names = new Map(parameters.map(({ name }) => [name.toLowerCase(), name]));
  const toValues = buildToValues({ path: '', parameters }, 'header', buildIsValid);
  return (headers, raw, problems) => {
    const texts = new NullProtoObject() as Texts;
    let isSent = false;
    for (const lower of names.keys()) isSent ||= lower in headers;
    for (let index = 0; isSent && index < raw.rawHeaders.length; index += 2) {
      const name = names.get((raw.rawHeaders[index] as string).toLowerCase());
      const line = raw.rawHeaders[index + 1] as string;
      if (name !== undefined) texts[name] = name in texts ? [texts[name] as string, line].flat() : line;
    }
    return toValues(texts, problems, raw);
  };
}

/**
 * Returns the items of an array in the query that was sent as one text. If the parameter was sent several times,
 * returns the items of the first one.
 */
function toJoined(url: string, name: string, separator: RegExp): string[] {
  // Finds the start of the query at the same character as the router and Fastify's parser.
  const pairs = url.replace(/^.[^?]*./, '').split('&');
  const named = pairs.filter((pair) => decodeField(pair.replace(/=.*/, '')) === name);
  return named.slice(0, 1).flatMap((pair) =>
    pair
      .replace(/^[^=]*=?/, '')
      .split(separator)
      .map(decodeField),
  );
}

/** Returns the items of an array in the path. `fromEnd` is the number of path segments that follow the array. */
function toJoinedPart(url: string, fromEnd: number): string[] {
  const parts = url.replace(/[?#].*/s, '').split('/');
  return (parts.at(-1 - fromEnd) as string).split(',').map(decodeURIComponent);
}

/** Decodes a name or value in the query. There, `+` means a space. */
const decodeField = (encoded: string) => decodeURIComponent(encoded.replaceAll('+', ' '));

/**
 * A field of an object in the query. Every field of the object is sent as a separate query parameter: `filter[name]=x`
 * (deepObject) or `name=x` (form).
 */
interface Field {
  /** The name of the parameter that is the object. */
  object: string;
  /** The field's name in the object. */
  name: string;
  read: Read;
}

const hasFields = ({ writing }: Parameter): boolean => writing === 'deep' || writing === 'fields';

const IN_BRACKETS = /^([^[]*)\[([^[\]]+)\]$/;

type FindField = (text: string) => Field | undefined;

/**
 * Builds the function that finds the object field for the name of a query parameter. Declared fields take precedence
 * over additional properties.
 */
function buildFindField(parameters: Parameter[], readOf: (parameter: Parameter) => Read): FindField {
  const declared = new Map<string, Field>();
  const open: FindField[] = [];
  for (const parameter of parameters.filter(hasFields)) {
    const { name: object, schema: whole, int64s: all, writing } = parameter;
    const { properties = {}, additionalProperties = {} } = mergeAllOf(whole);
    const wireName = (field: string) => (writing === 'deep' ? `${object}[${field}]` : field);
    const toRead = (name: string, schema: Schema, int64s: Int64Map) =>
      readOf({ ...parameter, name, schema, int64s, writing: isSimple(schema) ? 'text' : 'repeated' });
    for (const [name, field] of Object.entries(properties)) {
      const read = toRead(wireName(name), field, int64sUnder(all, 'properties', name));
      declared.set(wireName(name), { object, name, read });
    }
    if (additionalProperties === false) continue;
    const read = toRead(object, additionalProperties, int64sUnder(all, 'additionalProperties', ''));
    open.push((text) => {
      const [, outer, inner] = IN_BRACKETS.exec(text) ?? [];
      if (writing === 'fields') return { object, name: text, read };
      return outer === object ? { object, name: inner as string, read } : undefined;
    });
  }
  return (text) => {
    let field = declared.get(text);
    for (const find of open) field ??= find(text);
    return field;
  };
}
