/** The keyword `int64`, for ajv, which knows no bigint. */
import type { KeywordDefinition } from 'ajv/dist/2020.js';
import { INT64_RANGE, toInt64 } from '../json/int64.ts';

/** Replaces `type` and `format` of a 64-bit integer: takes an exact number, leaves a bigint, and keeps the bounds. */
export const int64: KeywordDefinition = {
  keyword: 'int64',
  modifying: true,
  errors: true,
  compile: (bounds: Record<string, number>) => {
    const rules = Object.entries(bounds).map(
      ([keyword, limit]) => ({ ...BOUNDS[keyword], limit: BigInt(limit) }) as Rule,
    );
    return function validate(data, context) {
      const value = toInt64(data);
      if (value === undefined) return fail(validate, `must be ${INT64_RANGE}`);
      const broken = rules.find(({ holds, limit }) => !holds(value, limit));
      if (broken) return fail(validate, `must be ${broken.words} ${broken.limit}`);
      if (context) context.parentData[context.parentDataProperty] = value;
      return true;
    };
  },
};

interface Rule {
  words: string;
  holds: (value: bigint, limit: bigint) => boolean;
  limit: bigint;
}

export const BOUNDS: Record<string, Omit<Rule, 'limit'>> = {
  minimum: { words: 'at least', holds: (value, limit) => value >= limit },
  maximum: { words: 'at most', holds: (value, limit) => value <= limit },
  exclusiveMinimum: { words: 'more than', holds: (value, limit) => value > limit },
  exclusiveMaximum: { words: 'less than', holds: (value, limit) => value < limit },
};

function fail(validate: object, message: string): false {
  Object.assign(validate, { errors: [{ keyword: 'int64', message, params: {} }] });
  return false;
}
