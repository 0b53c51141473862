/** Requests that break one rule of the contract each: what the server must answer, and the place that it must name. */
import fc, { type Arbitrary } from 'fast-check';
import { bodyRefusalsOf } from './body-refusals.ts';
import { unknownNames } from './json-breaks.ts';
import { within } from './keywords.ts';
import type { Operation, Parameter } from './operations.ts';
import { parameterBreaks, parameterValues } from './parameter-values.ts';
import { type Request, requests, type Texts } from './requests.ts';

export interface Refused {
  request: Request;
  status: number;
  /** Named in the message of the reply: `query.limit`. */
  place: string;
}

export interface Refusal {
  /** The place and the rule: `query.limit maximum`. */
  rule: string;
  requests: Arbitrary<Refused>;
}

/** One for every rule that the contract has for this operation. @throws Error that names a rule for which there is no way yet */
export function refusalsOf(operation: Operation): Refusal[] {
  return within(operation.id, () => [
    ...operation.parameters.flatMap((parameter) => refuseParameter(operation, parameter)),
    refuseUnknownParameter(operation),
    ...bodyRefusalsOf(operation),
  ]);
}

function refuseParameter(operation: Operation, parameter: Parameter): Refusal[] {
  const { name, in: place, required, list, isOpaque } = parameter;
  const others = requests(operation, parameter);
  const refuse = (rule: string, added: Arbitrary<{ texts: Texts; place?: string }>): Refusal => ({
    rule: `${place}.${name} ${rule}`,
    requests: fc.tuple(others, added, fc.nat()).map(([request, { texts, place: item = '' }, at]) => ({
      request: { ...request, [place]: insert(request[place], at, ...texts) },
      status: 400,
      place: `${place}.${name}${item}`,
    })),
  });
  const refusals = within(`${place}.${name}`, () => parameterBreaks(parameter)).map(({ rule, values }) =>
    refuse(
      rule,
      values.map(({ text, place }) => ({ texts: [[name, text]], place })),
    ),
  );
  if (place === 'path') return refusals;
  const values = isOpaque ? fc.constant('x') : parameterValues(parameter);
  // Where an array is given item by item, or line by line, that is how it is written.
  if (!list || (place === 'query' && list === 'joined')) {
    refusals.push(
      refuse(
        'repeated',
        fc.tuple(values, values).map((texts) => ({ texts: texts.map((text) => [name, text]) })),
      ),
    );
  }
  if (required) refusals.push(refuse('required', fc.constant({ texts: [] })));
  return refusals;
}

function refuseUnknownParameter(operation: Operation): Refusal {
  const known = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const texts = fc.constantFrom('', '1', 'x', 'true');
  return {
    rule: 'query unknown parameter',
    requests: fc.tuple(requests(operation), unknownNames(known), texts, fc.nat()).map(([request, name, text, at]) => ({
      request: { ...request, query: insert(request.query, at, [name, text]) },
      status: 400,
      place: `query.${name}`,
    })),
  };
}

function insert<T>(items: T[], seed: number, ...added: T[]): T[] {
  return items.toSpliced(seed % (items.length + 1), 0, ...added);
}
