/** The parameters of a path or query, from text to the values that their schemas speak of. */
import type { Parameter } from '../contract/contract.ts';
import { Bare } from '../json/bare.ts';
import { toJoined } from './joined-items.ts';
import { type BuildIsValid, buildToValue, type ToValue } from './spelling.ts';

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
export type ToValues = (texts: Texts, problems: string[], raw: Raw) => Values;
type Read = (given: string | string[], problems: string[], raw: Raw) => unknown;

/** Text that is no value of its schema stays text, and so does what the contract does not know: both are refused later. */
export function buildToValues(parameters: Parameter[], place: 'path' | 'query', buildIsValid: BuildIsValid): ToValues {
  const reads = new Map(parameters.map((parameter) => [parameter.name, buildRead(parameter, buildIsValid)]));
  return (texts, problems, raw) => {
    const values: Values = new Bare();
    for (const name in texts) {
      const read = reads.get(name) ?? buildReadOne(`${place}.${name}`, (text) => text);
      values[name] = read(texts[name] as string | string[], problems, raw);
    }
    return values;
  };
}

function buildRead({ name, in: place, schema, int64s, list }: Parameter, buildIsValid: BuildIsValid): Read {
  if (!list) return buildReadOne(`${place}.${name}`, buildToValue(schema, int64s.isInt64, buildIsValid));
  const toValue = buildToValue(schema.items, int64s.rest?.isInt64 === true, buildIsValid);
  if (list === 'repeated') return (given) => [given].flat().map(toValue);
  const readOne = buildReadOne(`${place}.${name}`, (text) => text);
  return (given, problems, { url }) => {
    readOne(given, problems);
    return toJoined(url as string, name).map(toValue);
  };
}

function buildReadOne(place: string, toValue: ToValue): (given: string | string[], problems: string[]) => unknown {
  return (given, problems) => {
    if (!Array.isArray(given)) return toValue(given);
    problems.push(`${place} is given more than once`);
    return toValue(given[0] as string);
  };
}
