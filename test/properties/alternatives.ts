/** Schemas that leave a choice: a value or null, or one of several schemas. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc, { type Arbitrary } from 'fast-check';
import type { Json } from './operations.ts';

/** The schema without null, and whether it takes null. A schema of one type stays the same object. */
export function splitNull(schema: Json): { schema: Json; isNullable: boolean } {
  if (!Array.isArray(schema.type)) return { schema, isNullable: false };
  const types = schema.type.filter((type: string) => type !== 'null');
  const values = schema.enum?.filter((value: Json) => value !== null);
  const isNullable = types.length < schema.type.length && (!values || values.length < schema.enum.length);
  const rest = { ...schema, type: types.length === 1 ? types[0] : types, ...(values && { enum: values }) };
  return { schema: rest, isNullable };
}

/** The schemas of which one is meant, if any. */
export const alternativesOf = ({ oneOf, anyOf }: Json): Json[] | undefined => oneOf ?? anyOf;

const ajv = new Ajv2020({ strict: false, validateSchema: false });
addFormats.default(ajv);

/** Only texts that the schema does not take after all, through another alternative; undefined where that is most of them. */
export function refusedBy<T extends { text: string }>(schema: Json, values: Arbitrary<T>): Arbitrary<T> | undefined {
  const isValid = ajv.compile(schema);
  const isRefused = ({ text }: T) => !isValid(JSON.parse(text));
  const sample = fc.sample(values, { numRuns: 50, seed: 1 });
  return sample.filter(isRefused).length > 5 ? values.filter(isRefused) : undefined;
}

/** Only texts that the schema takes: those of one alternative may fit another, too. */
export function takenBy(schema: Json, texts: Arbitrary<string>): Arbitrary<string> {
  const isValid = ajv.compile(schema);
  return texts.filter((text) => isValid(JSON.parse(text)) === true);
}
