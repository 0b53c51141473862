/** ajv keywords that handle numbers exactly, because ajv's own keywords do not support bigint. */
import {
  _,
  type Code,
  type CodeKeywordDefinition,
  type JSONType,
  type KeywordDefinition,
  type Name,
} from 'ajv/dist/2020.js';
import { getProperty } from 'ajv/dist/compile/codegen/index.js';
import { checkDataTypes, DataType } from 'ajv/dist/compile/validate/dataType.js';
import { INT64_RANGE, isMultiple, toDouble } from '../../json/exact-number.ts';

type Bounds = Record<keyof typeof BOUNDS, number | bigint>;

/** The comparisons work for any mix of bigint and number, because JavaScript compares the two exactly. */
const BOUNDS = {
  minimum: { words: 'at least', holds: (value: Name, limit: Code) => _`${value} >= ${limit}` },
  maximum: { words: 'at most', holds: (value: Name, limit: Code) => _`${value} <= ${limit}` },
  exclusiveMinimum: { words: 'more than', holds: (value: Name, limit: Code) => _`${value} > ${limit}` },
  exclusiveMaximum: { words: 'less than', holds: (value: Name, limit: Code) => _`${value} < ${limit}` },
};

export const BOUND_NAMES = Object.keys(BOUNDS) as (keyof Bounds)[];

/** `int64: ['null']` accepts a 64-bit integer that has lost no digits, or null. */
export const int64: CodeKeywordDefinition = {
  keyword: 'int64',
  schemaType: 'array',
  code: (cxt) => {
    const { data, schema, schemaValue } = cxt;
    const isExact = _`Number.isSafeInteger(${data}) || (typeof ${data} == 'bigint' && BigInt.asIntN(64, ${data}) === ${data})`;
    const isOther = _`${schemaValue}.includes(${data} === null ? 'null' : typeof ${data})`;
    cxt.pass(schema.length === 0 ? isExact : _`${isExact} || ${isOther}`);
  },
  error: {
    message: ({ schema }) =>
      schema.length === 0 ? `must be ${INT64_RANGE}` : `must be ${['a 64-bit integer', ...schema].join(' or ')}`,
  },
};

const isNumber = (data: Name): Code => _`(typeof ${data} == 'number' || typeof ${data} == 'bigint')`;

/**
 * The keyword `numeric: ['integer', 'null']` works like `type`, but also accepts a bigint if a double can hold the same
 * number.
 */
export const numeric: CodeKeywordDefinition = {
  keyword: 'numeric',
  schemaType: 'array',
  error: {
    message: ({ schema }) => `must be of type ${schema}`,
    params: ({ schemaCode }) => _`{ type: ${schemaCode} }`,
  },
  code: (cxt) => {
    const { gen, data, parentSchema } = cxt;
    const isDouble = gen.scopeValue('wrapper', { ref: (value: bigint) => toDouble(value) !== undefined });
    const isNone = checkDataTypes(cxt.schema as JSONType[], data, true, DataType.Wrong);
    const isLarge = parentSchema.format === 'int32' ? _`false` : _`typeof ${data} == 'bigint' && ${isDouble}(${data})`;
    cxt.pass(_`!(${isNone}) || ${isLarge}`);
  },
};

/** `bounds: { minimum: 1 }` ignores values that are not numbers, as JSON Schema's `minimum` does. */
export const bounds: CodeKeywordDefinition = {
  keyword: 'bounds',
  error: {
    message: ({ params: { words, limit } }) => `must be ${words} ${limit}`,
    params: ({ params: { name } }) => _`{ bound: ${name} }`,
  },
  code: (cxt) => {
    const { data } = cxt;
    for (const [name, limit] of Object.entries(cxt.schema as Bounds)) {
      const { words, holds } = BOUNDS[name as keyof Bounds];
      cxt.setParams({ name, words, limit: String(limit) });
      const known = typeof limit === 'bigint' ? _`${cxt.schemaValue}${getProperty(name)}` : _`${limit}`;
      cxt.fail(_`${isNumber(data)} && !(${holds(data, known)})`);
    }
  },
};

/** `multiple: 0.01` is `multipleOf` with exact arithmetic; ajv's `multipleOf` divides doubles. */
export const multiple: KeywordDefinition = {
  keyword: 'multiple',
  errors: false,
  compile: (divisor: number | bigint) => (value: unknown) =>
    (typeof value !== 'number' && typeof value !== 'bigint') ||
    !Number.isFinite(Number(value)) ||
    isMultiple(value, divisor),
  error: { message: ({ schema }) => `must be multiple of ${schema}` },
};

/**
 * The keyword `largeDefaults: { after: 1n }` fills in defaults that are bigints, because ajv cannot write a bigint into
 * the code that it generates.
 */
export const largeDefaults: CodeKeywordDefinition = {
  keyword: 'largeDefaults',
  schemaType: 'object',
  code: ({ gen, data, schema, schemaValue }) => {
    for (const name of Object.keys(schema)) {
      const field = _`${data}${getProperty(name)}`;
      const isMissing = _`${data} && typeof ${data} == 'object' && ${field} === undefined`;
      gen.if(isMissing, _`${field} = ${schemaValue}${getProperty(name)}`);
    }
  },
};
