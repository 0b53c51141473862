/** Keywords for ajv: fields that only the other direction has, and a word that OpenAPI no longer has. */
import type { KeywordDefinition } from 'ajv/dist/2020.js';

/** `hidden: 'read-only'` takes no value, and says why. */
export const hidden: KeywordDefinition = {
  keyword: 'hidden',
  schema: true,
  validate: () => false,
  error: { message: ({ schema }) => `is ${schema}` },
};

/** ajv would take it without a word. */
export const nullable: KeywordDefinition = {
  keyword: 'nullable',
  compile: () => {
    throw new Error("nullable is of OpenAPI 3.0: write type: [string, 'null'], or anyOf with type: 'null'");
  },
};
