/** The parameters of a path or query, from text to the values that their schemas speak of. */

import { NullProtoObject } from '../../json/null-proto-object.ts';
import { toStep } from '../../json/pointer.ts';
import type { Operation, Parameter } from '../contract/contract.ts';
import { isSimple, itemsOf, typesOf } from '../contract/parameters.ts';
import { Problem, problemAt } from '../problem.ts';
import type { Schema } from '../schema/json.ts';
import { toJoined, toJoinedPart } from './joined-items.ts';
import { buildFindField, hasFields } from './object-values.ts';
import { type BuildIsValid, buildToValue, parseInner, REPEATED, type ToValue } from './spelling.ts';

/** By name, as Fastify has them: what is given several times is an array. */
export type Texts = Record<string, string | string[]>;
export type Values = Record<string, unknown>;

/** What Node has read of a request. */
export interface Raw {
  url?: string | undefined;
  /** Each name is followed by its value. */
  rawHeaders: string[];
}

/** Makes the values, and adds the parameters that are given more than once to `problems`. */
export type ToValues = (texts: Texts, problems: Problem[], raw: Raw) => Values;
type Read = (given: string | string[], problems: Problem[], raw: Raw) => unknown;

/** Text that is no value of its schema stays text, and so does what the contract does not know: both are refused later. */
export function buildToValues(
  { path, parameters }: Pick<Operation, 'path' | 'parameters'>,
  place: 'path' | 'query',
  buildIsValid: BuildIsValid,
): ToValues {
  const own = parameters.filter((parameter) => parameter.in === place);
  const readOf = (parameter: Parameter) => buildRead(parameter, path, buildIsValid);
  const reads = new Map(own.filter((one) => !hasFields(one)).map((parameter) => [parameter.name, readOf(parameter)]));
  const findField = buildFindField(own, (name, schema, int64s) =>
    readOf({ ...(own[0] as Parameter), name, schema, int64s, writing: isSimple(schema) ? 'text' : 'repeated' }),
  );
  return (texts, problems, raw) => {
    const values: Values = new NullProtoObject();
    for (const name in texts) {
      const read = reads.get(name);
      if (read) values[name] = read(texts[name] as string | string[], problems, raw);
      else addOther(values, name, texts[name] as string | string[], problems, raw);
    }
    return values;
  };

  /** A field of an object, or what is not known. */
  function addOther(values: Values, name: string, ...given: Parameters<Read>): void {
    const field = findField(name);
    if (field) {
      values[field.object] ??= new NullProtoObject();
      (values[field.object] as Values)[field.name] = field.read(...given);
    } else {
      const readUnknown: Read = buildReadOne(`/${place}/${toStep(name)}`, (text) => text);
      values[name] = readUnknown(...given);
    }
  }
}

function buildRead(parameter: Parameter, path: string, buildIsValid: BuildIsValid): Read {
  const { name, in: place, schema, int64s, writing } = parameter;
  const at = `/${place}/${toStep(name)}`;
  if (writing === 'json') return buildReadJson(at);
  if (writing === 'text') return buildReadOne(at, buildToValue(schema, int64s.isInt64, buildIsValid));
  const toItem = buildToValue(itemsOf(schema) as Schema, int64s.rest?.isInt64 === true, buildIsValid);
  if (writing === 'repeated') return buildReadRepeated(parameter, toItem, buildIsValid);
  if (place === 'path') {
    const fromEnd = path.split('/').reverse().indexOf(`{${name}}`);
    return (_given, _problems, { url }) => toJoinedPart(url as string, fromEnd).map(toItem);
  }
  const readOne = buildReadOne(at, (text) => text);
  return (given, problems, { url }) => {
    readOne(given, problems);
    return toJoined(url as string, name).map(toItem);
  };
}

/** What is given once may be a simple value, where the schema allows that beside an array. */
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
