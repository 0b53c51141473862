/** The parameters of a request, from text to the values that their schemas speak of. */
import type { Parameter } from '../contract/contract.ts';
import { Bare } from '../json/bare.ts';
import { parseInt64 } from '../json/int64.ts';

/** By name, as Fastify has them: what is given several times is an array. */
export type Texts = Record<string, string | string[]>;
export type Values = Record<string, unknown>;

/** Makes the values, and adds the parameters that are given more than once to `problems`. */
export type ToValues = (texts: Texts, problems: string[]) => Values;
/** The same for headers, which come as Node's `rawHeaders`: each name is followed by its value. */
export type ToHeaders = (names: string[], problems: string[]) => Values;

/** Text that is no value of its schema stays text, and so does what the contract does not know: both are refused later. */
export function buildToValues(parameters: Parameter[], place: 'path' | 'query'): ToValues {
  const converts = new Map(parameters.map((parameter) => [parameter.name, toConvert(parameter)]));
  return (texts, problems) => {
    const values: Values = new Bare();
    for (const name in texts) {
      const given = texts[name] as string | string[];
      if (Array.isArray(given)) problems.push(`${place}.${name} is given more than once`);
      const text = Array.isArray(given) ? (given[0] as string) : given;
      values[name] = converts.get(name)?.(text) ?? text;
    }
    return values;
  };
}

/** From Node's own object of headers, a second line of the same name would be missing, or joined to the first. */
export function buildToHeaders(parameters: Parameter[]): ToHeaders {
  const known = new Map(
    parameters.map((parameter) => [
      parameter.name.toLowerCase(),
      { name: parameter.name, convert: toConvert(parameter) },
    ]),
  );
  return (given, problems) => {
    const values: Values = new Bare();
    for (let index = 0; index < given.length; index += 2) {
      const parameter = known.get((given[index] as string).toLowerCase());
      if (!parameter) continue;
      const { name, convert } = parameter;
      const text = given[index + 1] as string;
      if (name in values) problems.push(`header.${name} is given more than once`);
      else values[name] = convert(text) ?? text;
    }
    return values;
  };
}

function toConvert({ schema, int64s }: Parameter): (text: string) => unknown {
  if (int64s.isInt64) return parseInt64;
  if (schema.type === 'integer') return (text) => safeNumber(parseInt64(text));
  if (schema.type === 'number') return (text) => (/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text) ? Number(text) : text);
  if (schema.type === 'boolean') return (text) => text === 'true' || (text === 'false' ? false : text);
  return (text) => text;
}

function safeNumber(value: bigint | undefined): number | undefined {
  return Number.isSafeInteger(Number(value ?? Number.NaN)) ? Number(value) : undefined;
}
