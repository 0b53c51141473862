/** Converts the header parameters of a request from text to the types of their schemas. */
import { NullProtoObject } from '../../json/null-proto-object.ts';
import { toStep } from '../../json/pointer.ts';
import type { Parameter } from '../contract/contract.ts';
import { type Problem, problemAt } from '../problem.ts';
import type { Schema } from '../schema/json.ts';
import { itemsOf } from '../schema/value-types.ts';
import type { Raw, Values } from './parameter-values.ts';
import { type BuildIsValid, buildToValue, REPEATED } from './spelling.ts';

/** Returns the values, and adds parameters that were sent more than once to `problems`. */
export type ToHeaders = (headers: object, raw: Raw, problems: Problem[]) => Values;

/** Reads `rawHeaders`: in Node's object of headers, a second line of a name is dropped, or joined to the first. */
export function buildToHeaders(parameters: Parameter[], buildIsValid: BuildIsValid): ToHeaders {
  const adds = new Map(
    parameters.map((parameter) => [parameter.name.toLowerCase(), buildAdd(parameter, buildIsValid)]),
  );
  const names = [...adds.keys()];
  return (headers, { rawHeaders }, problems) => {
    const values: Values = new NullProtoObject();
    if (!names.some((name) => name in headers)) return values;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const add = adds.get((rawHeaders[index] as string).toLowerCase());
      add?.(values, rawHeaders[index + 1] as string, problems);
    }
    return values;
  };
}

/** Adds the value of one line. A list may have several lines; its empty items are ignored (RFC 9110, sections 5.3 and 5.6.1). */
type Add = (values: Values, text: string, problems: Problem[]) => void;

function buildAdd({ name, schema, int64s, writing }: Parameter, buildIsValid: BuildIsValid): Add {
  if (writing === 'joined') {
    const toValue = buildToValue(itemsOf(schema) as Schema, int64s.rest?.isInt64 === true, buildIsValid);
    return (values, text) => {
      const items = text.split(',').flatMap((item) => item.trim() || []);
      values[name] = [...((values[name] as unknown[]) ?? []), ...items.map(toValue)];
    };
  }
  const toValue = buildToValue(schema, int64s.isInt64, buildIsValid);
  return (values, text, problems) => {
    if (name in values) problems.push(problemAt(`/header/${toStep(name)}`, ...REPEATED));
    else values[name] = toValue(text);
  };
}
