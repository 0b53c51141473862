/** The parameters of a request, from text to the values that their schemas speak of. */
import type { Parameter } from '../contract/contract.ts';
import { parseInt64 } from '../json/int64.ts';

/** By name, as Fastify has them: what is given several times is an array. */
export type Texts = Record<string, string | string[]>;
export type Values = Record<string, unknown>;

/** Makes the values, and adds the names of parameters that are given more than once to `repeated`. */
export type ToValues = (texts: Texts, repeated: string[]) => Values;

/** Without a prototype, `__proto__` is a name like any other. V8 takes several times as long for `Object.create(null)`. */
class Bare {
  [name: string]: unknown;
}
Reflect.deleteProperty(Bare.prototype, 'constructor');
Object.setPrototypeOf(Bare.prototype, null);

/** Text that is no value of its schema stays text, and so does what the contract does not know: both are refused later. */
export function buildToValues(parameters: Parameter[]): ToValues {
  const converts = new Map(parameters.map((parameter) => [parameter.name, toConvert(parameter)]));
  return (texts, repeated) => {
    const values: Values = new Bare();
    for (const name in texts) {
      const given = texts[name] as string | string[];
      if (Array.isArray(given)) repeated.push(name);
      const text = Array.isArray(given) ? (given[0] as string) : given;
      values[name] = converts.get(name)?.(text) ?? text;
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
