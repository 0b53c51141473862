/** Turns ajv's errors about a document or schema that breaks OpenAPI's or JSON Schema's meta-schema into messages. */
import type { ErrorObject } from 'ajv/dist/2020.js';

export interface Fault {
  /** The JSON Pointer to the node with the fault. */
  pointer: string;
  words: string;
}

/**
 * Names the two fields that exclude each other in the object at this pointer (OpenAPI 3.1, sections 4.8.12, 4.8.14,
 * 4.8.19, 4.8.21).
 */
const exclusiveIn = (pointer: string): string =>
  /\/examples\/[^/]+$/.test(pointer) ? 'value and externalValue' : 'example and examples';

/**
 * Names the two alternatives of a choice. The link, parameter or header at this pointer must contain exactly one of the
 * two fields.
 */
const choiceIn = (pointer: string): string =>
  /\/links\/[^/]+$/.test(pointer) ? 'operationRef or operationId' : 'schema or content';

const KEYWORD_MESSAGES: Record<string, (params: ErrorObject['params'], pointer: string) => string> = {
  type: ({ type }) => `must be ${[type].flat().join(' or ')}`,
  enum: ({ allowedValues }) => `must be one of ${allowedValues.join(', ')}`,
  const: ({ allowedValue }) => `must be ${allowedValue}`,
  required: ({ missingProperty }, pointer) =>
    pointer.endsWith('/responses') ? 'needs a status, such as 200, or default' : `needs ${missingProperty}`,
  not: (_, pointer) => `must be object, without both ${exclusiveIn(pointer)}`,
  unevaluatedProperties: ({ unevaluatedProperty }) => `must not have ${unevaluatedProperty}`,
};

/** Keywords that only report a summary of the errors of the schemas inside them. */
const SUMMARIES = ['if', 'oneOf', 'anyOf', 'allOf'];

/** Converts ajv's errors to faults, without duplicates. */
export function toFaults(errors: ErrorObject[]): Fault[] {
  const isBelow = (one: ErrorObject, other: ErrorObject) => `${one.instancePath}/`.startsWith(`${other.instancePath}/`);
  const isSummary = ({ keyword }: ErrorObject) => SUMMARIES.includes(keyword);
  const repeats = (one: ErrorObject, index: number) =>
    errors.some((other, position) => other !== one && isBelow(other, one) && (!isSummary(other) || position < index));
  const first = errors.filter((one, index) => !isSummary(one) || !repeats(one, index));
  const choices = new Set(errors.filter(({ keyword }) => keyword === 'oneOf').map(({ instancePath }) => instancePath));
  const ofChoice = (pointer: string) =>
    first
      .filter(({ instancePath, keyword }) => keyword === 'required' && instancePath === pointer)
      .map(({ params }) => params.missingProperty);
  const faults = first.map((error) => {
    const { instancePath: pointer, keyword, params, message } = error;
    const isChoice = keyword === 'required' && choices.has(pointer);
    const said = isChoice
      ? `needs ${ofChoice(pointer).join(' or ')}`
      : (KEYWORD_MESSAGES[keyword]?.(params, pointer) ?? (message as string));
    // A `oneOf` error without inner errors means that both alternatives fit, or that the value is not an object.
    const words = isSummary(error) ? `must be object, with either ${choiceIn(pointer)}` : said;
    return [`${pointer} ${words}`, { pointer, words }] as const;
  });
  return [...new Map(faults).values()];
}
