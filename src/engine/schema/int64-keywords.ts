/** Keywords for ajv, which knows no bigint: the type of a 64-bit integer, and bounds that hold for every digit of it. */
import { _, type Code, type CodeKeywordDefinition, type KeywordDefinition, type Name } from 'ajv/dist/2020.js';
import { INT64_RANGE, toInt64 } from '../../json/int64.ts';

type Bounds = Record<keyof typeof BOUNDS, number>;

/** JavaScript compares bigint and number exactly. */
const BOUNDS = {
  minimum: { words: 'at least', holds: (value: Name, limit: number) => _`${value} >= ${limit}` },
  maximum: { words: 'at most', holds: (value: Name, limit: number) => _`${value} <= ${limit}` },
  exclusiveMinimum: { words: 'more than', holds: (value: Name, limit: number) => _`${value} > ${limit}` },
  exclusiveMaximum: { words: 'less than', holds: (value: Name, limit: number) => _`${value} < ${limit}` },
};

export const BOUND_NAMES = Object.keys(BOUNDS) as (keyof Bounds)[];

/** `int64: ['null']` takes an exact integer of 64 bits, or null. */
export const int64: KeywordDefinition = {
  keyword: 'int64',
  errors: false,
  compile: (others: string[]) => (value: unknown) =>
    toInt64(value) !== undefined || others.includes(value === null ? 'null' : typeof value),
  error: {
    message: ({ schema }) =>
      schema.length === 0 ? `must be ${INT64_RANGE}` : `must be ${['a 64-bit integer', ...schema].join(' or ')}`,
  },
};

/** `int64Bounds: { minimum: 1 }` ignores values that are not numbers, as JSON Schema's bounds do. */
export const int64Bounds: CodeKeywordDefinition = {
  keyword: 'int64Bounds',
  error: { message: ({ params: { words, limit } }) => `must be ${words} ${limit}` },
  code: (cxt) => {
    const { data } = cxt;
    const isNumber: Code = _`typeof ${data} == 'bigint' || typeof ${data} == 'number'`;
    for (const [name, limit] of Object.entries(cxt.schema as Bounds)) {
      const { words, holds } = BOUNDS[name as keyof Bounds];
      cxt.setParams({ words, limit });
      cxt.fail(_`(${isNumber}) && !(${holds(data, limit)})`);
    }
  },
};
