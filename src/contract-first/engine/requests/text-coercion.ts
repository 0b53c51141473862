/**
 * Converts the text of a parameter to a value. Every value has only one valid spelling. Text that cannot be converted
 * stays text, so that the check reports it.
 */
import { InexactNumber, parseExactJson } from '../../json/exact-json.ts';
import { CANONICAL, parseInt64, toDouble, toExactNumber } from '../../json/exact-number.ts';
import { type Problem, problemAt } from '../errors/problem.ts';
import type { Schema } from '../schema/json.ts';
import { typesOf } from '../schema/value-types.ts';

export type ToValue = (text: string) => unknown;

/**
 * Builds the conversion of a parameter's text for a schema. If the schema allows several types, the conversion tries
 * them in the order of ORDER, and returns the first value that fits the schema.
 */
export function buildToValue(schema: Schema, isInt64: boolean, buildIsValid: BuildIsValid): ToValue {
  const types = typesOf(schema);
  if (isInt64 || types.length === 1) return buildToOne(types[0] as string, isInt64);
  const conversions = ORDER.filter((type) => types.includes(type)).map((type) => buildToOne(type, false));
  const isValid = buildIsValid(schema);
  return (text) => conversions.map((toOne) => toOne(text)).find(isValid) ?? text;
}

export type BuildIsValid = (schema: Schema) => (value: unknown) => boolean;

/** The code and the message of the problem that a parameter or a form field was sent more than once. */
export const REPEATED = ['repeated', 'is given more than once'] as const;

/** Types are tried in this order. `string` is last, because every text is a string. */
const ORDER = ['boolean', 'integer', 'number', 'string'];

function buildToOne(type: string, isInt64: boolean): ToValue {
  if (isInt64) return (text) => parseInt64(text) ?? text;
  if (type === 'integer') return (text) => (CANONICAL.test(text) ? toNumber(text) : undefined) ?? text;
  if (type === 'number') return (text) => (NUMBER.test(text) ? toNumber(text) : undefined) ?? text;
  if (type === 'boolean') return (text) => text === 'true' || (text === 'false' ? false : text);
  return (text) => text;
}

/** Matches a number. Exponents are allowed, because JavaScript writes some numbers with one, such as `1e-7`. */
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

function toNumber(text: string): number | undefined {
  const value = toExactNumber(text);
  return typeof value === 'bigint' ? toDouble(value) : value;
}

/** Parses the JSON text of a parameter or a form field. `at` is its JSON Pointer, for problems. */
export function parseInner(text: string, at: string): unknown | Problem {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactNumber) return problemAt(at + error.path, 'inexact', error.message);
    return problemAt(at, 'syntax', 'is not JSON');
  }
}
