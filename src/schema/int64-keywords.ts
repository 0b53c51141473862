/** Keywords for ajv, which knows no bigint: the type of a 64-bit integer, and bounds that hold for every digit of it. */
import type { KeywordDefinition } from 'ajv/dist/2020.js';
import type { DataValidateFunction } from 'ajv/dist/types/index.js';
import { INT64_RANGE, toInt64 } from '../json/int64.ts';

type Bounds = Record<keyof typeof BOUNDS, number>;

/** JavaScript compares bigint and number exactly. */
const BOUNDS = {
  minimum: { words: 'at least', holds: (value: bigint | number, limit: number) => value >= limit },
  maximum: { words: 'at most', holds: (value: bigint | number, limit: number) => value <= limit },
  exclusiveMinimum: { words: 'more than', holds: (value: bigint | number, limit: number) => value > limit },
  exclusiveMaximum: { words: 'less than', holds: (value: bigint | number, limit: number) => value < limit },
};

export const BOUND_NAMES = Object.keys(BOUNDS) as (keyof Bounds)[];

/** `int64: ['null']` takes an exact integer of 64 bits, or null. */
export const int64: KeywordDefinition = {
  keyword: 'int64',
  errors: true,
  compile: (others: string[]) => {
    const expected = ['a 64-bit integer'].concat(others).join(' or ');
    const message = others.length === 0 ? `must be ${INT64_RANGE}` : `must be ${expected}`;
    const validate: DataValidateFunction = (data) =>
      toInt64(data) !== undefined || others.includes(data === null ? 'null' : typeof data) || fail(validate, message);
    return validate;
  },
};

/** `int64Bounds: { minimum: 1 }` ignores values that are not numbers, as JSON Schema's bounds do. */
export const int64Bounds: KeywordDefinition = {
  keyword: 'int64Bounds',
  errors: true,
  compile: (bounds: Partial<Bounds>) => {
    const rules = Object.entries(bounds).map(([name, limit]) => ({ ...BOUNDS[name as keyof Bounds], limit }));
    const validate: DataValidateFunction = (data) => {
      if (typeof data !== 'bigint' && typeof data !== 'number') return true;
      const broken = rules.find(({ holds, limit }) => !holds(data, limit));
      return !broken || fail(validate, `must be ${broken.words} ${broken.limit}`);
    };
    return validate;
  },
};

function fail(validate: DataValidateFunction, message: string): false {
  validate.errors = [{ keyword: 'int64', message, params: {} }];
  return false;
}
