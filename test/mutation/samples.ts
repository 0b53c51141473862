/** Values at and beside every bound of a schema, each with whether it is valid: nothing of `src/` takes part. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Json } from '../../src/contract/contract.ts';

export interface Sample {
  /** As JSON; integers are bigint. */
  value: Json;
  /** What is wrong with it: the place below the value (`.name`, or empty), or undefined for a valid one. */
  wrong?: string | undefined;
}

const INT64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n };
const WORDS = ['Rex', 'abc', 'zx', '', 'é😀', '2026-11-20', 'not one of them', '\u0000', 'A_-9'];
/** For each type, values of others. */
const STRANGERS: [type: string, value: Json][] = [
  ['string', 'x'],
  ['integer', 7n],
  ['number', 1.5],
  ['boolean', true],
  ['null', null],
  ['array', []],
  ['object', {}],
];

const ajv = new Ajv2020({ strict: false, logger: false });
addFormats.default(ajv);
const validators = new Map<string, ValidateFunction>();

/** The valid values first, and among those the plainest. */
export function samplesOf(schema: Json): Sample[] {
  const { type, properties, items } = schema;
  const values = candidates(schema).map((value) => toSample(schema, value));
  const fields = type === 'object' || properties ? objectSamples(schema) : [];
  const lists = type === 'array' || items ? arraySamples(schema) : [];
  const samples = [...values, ...fields, ...lists, ...strangers(schema)];
  return [...samples.filter(({ wrong }) => wrong === undefined), ...samples.filter(({ wrong }) => wrong !== undefined)];
}

/** The plainest valid value; undefined where none is known. */
export function plainest(schema: Json): Json {
  return samplesOf(schema).find(({ wrong }) => wrong === undefined)?.value;
}

/** Whether a value of a simple type is valid. */
export function isValid(schema: Json, value: Json): boolean {
  if (typeof value !== 'bigint') return validatorOf(schema)(value);
  if (schema.format !== 'int64' || schema.type !== 'integer') return validatorOf(schema)(Number(value));
  const { minimum = INT64.minimum, maximum = INT64.maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  return (
    value >= minimum &&
    value <= maximum &&
    (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
    (exclusiveMaximum === undefined || value < exclusiveMaximum)
  );
}

function validatorOf(schema: Json): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = validators.get(text) ?? ajv.compile(schema);
  validators.set(text, validate);
  return validate;
}

function toSample(schema: Json, value: Json): Sample {
  return isValid(schema, value) ? { value } : { value, wrong: '' };
}

function candidates(schema: Json): Json[] {
  const { type, enum: values } = schema;
  if (values) return [...values, ...values.map((value: Json) => `${value}_`), ...WORDS];
  if (type === 'string') return [...WORDS, ...lengths(schema).flatMap((length) => texts(length))];
  if (type === 'integer' || type === 'number') return integers(schema);
  return type === 'boolean' ? [true, false] : [];
}

function lengths({ minLength, maxLength }: Json): number[] {
  return [minLength, maxLength].flatMap((length) => (length === undefined ? [] : [length, length - 1, length + 1]));
}

/** Characters count, not their bytes: one may have four of those, and take two places in a JavaScript string. */
const texts = (length: number) => (length < 0 ? [] : ['a', '😀'].map((character) => character.repeat(length)));

function integers(schema: Json): bigint[] {
  const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].flatMap((key) => schema[key] ?? []);
  const ends = schema.format === 'int64' ? [INT64.minimum, INT64.maximum] : [];
  const beside = [...bounds.map((bound) => BigInt(Math.floor(bound))), ...ends].flatMap((end) => [
    end,
    end - 1n,
    end + 1n,
  ]);
  return [...new Set([1n, 2n, 3n, 7n, 0n, -1n, ...beside])];
}

function strangers(schema: Json): Sample[] {
  const kin = schema.type === 'number' ? ['number', 'integer'] : [schema.type];
  const others = STRANGERS.filter(([type]) => !kin.includes(type));
  return others.map(([, value]) => toSample(schema, value));
}

/** Every field once with each of its samples, once left out; and one field too many. */
function objectSamples(schema: Json): Sample[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = Object.entries<Json>(properties).map(([name, field]) => [name, plainest(field)]);
  const full = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  const samples: Sample[] = [
    { value: full },
    { value: { ...full, extraField: 1n }, wrong: additionalProperties === false ? '.extraField' : undefined },
  ];
  for (const [name, field] of Object.entries<Json>(properties)) {
    const { [name]: _, ...rest } = full;
    samples.push({ value: rest, wrong: required.includes(name) ? `.${name}` : undefined });
    samples.push(...samplesOf(field).map((sample) => within(`.${name}`, sample, { ...full, [name]: sample.value })));
  }
  return samples;
}

/** As many items as the bounds allow and one less or more; and each sample of an item. */
function arraySamples({ items = {}, minItems = 0, maxItems }: Json): Sample[] {
  const plain = plainest(items);
  const most = maxItems ?? Number.POSITIVE_INFINITY;
  const counts = [Math.max(1, minItems), minItems, minItems - 1, most, most + 1];
  const lists = counts
    .filter((count) => count >= 0 && count < Number.POSITIVE_INFINITY)
    .map((count) => ({ value: Array(count).fill(plain), wrong: count < minItems || count > most ? '' : undefined }));
  const single = minItems <= 1 && most >= 1 ? samplesOf(items) : [];
  return [...lists, ...single.map((sample) => within('.0', sample, [sample.value]))];
}

/** The sample of a part, as that of a whole with it in this place. */
function within(place: string, { wrong }: Sample, value: Json): Sample {
  return { value, wrong: wrong === undefined ? undefined : place + wrong };
}
