/** Each value has one spelling in a parameter: its text -> the value, or the text itself where it is none, to be refused later. */

import { InexactNumber, parseExactJson } from '../../json/exact-json.ts';
import { toDouble, toExactNumber } from '../../json/exact-number.ts';
import { isCanonical, parseInt64 } from '../../json/int64.ts';
import { typesOf } from '../contract/parameters.ts';
import { type Problem, problemAt } from '../problem.ts';
import type { Schema } from '../schema/json.ts';

export type ToValue = (text: string) => unknown;

/** Of several types, it is the first one whose value the schema allows. */
export function buildToValue(schema: Schema, isInt64: boolean, buildIsValid: BuildIsValid): ToValue {
  const types = typesOf(schema);
  if (isInt64 || types.length === 1) return buildToOne(types[0] as string, isInt64);
  const ways = ORDER.filter((type) => types.includes(type)).map((type) => buildToOne(type, false));
  const isValid = buildIsValid(schema);
  return (text) => ways.map((toOne) => toOne(text)).find(isValid) ?? text;
}

export type BuildIsValid = (schema: Schema) => (value: unknown) => boolean;

/** Code and words of a problem: a value has one place. */
export const REPEATED = ['repeated', 'is given more than once'] as const;

/** Text is everything, so that it comes last. */
const ORDER = ['boolean', 'integer', 'number', 'string'];

function buildToOne(type: string, isInt64: boolean): ToValue {
  if (isInt64) return (text) => parseInt64(text) ?? text;
  if (type === 'integer') return (text) => (isCanonical(text) ? toNumber(text) : undefined) ?? text;
  if (type === 'number') return (text) => (NUMBER.test(text) ? toNumber(text) : undefined) ?? text;
  if (type === 'boolean') return (text) => text === 'true' || (text === 'false' ? false : text);
  return (text) => text;
}

/** As JavaScript writes numbers, too: `1e-7`. */
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

function toNumber(text: string): number | undefined {
  const value = toExactNumber(text);
  return typeof value === 'bigint' ? toDouble(value) : value;
}

/** JSON in a text that stands at this place. */
export function parseInner(text: string, at: string): unknown | Problem {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactNumber) return problemAt(at + error.path, 'inexact', error.message);
    return problemAt(at, 'syntax', 'is not JSON');
  }
}
