/** ajv keywords for read-only and write-only fields, and for `nullable`, which OpenAPI 3.1 no longer has. */
import type { KeywordDefinition } from 'ajv/dist/2020.js';

/** `hidden: 'read-only'` refuses every value, and says why. */
export const hidden: KeywordDefinition = {
  keyword: 'hidden',
  schema: true,
  validate: () => false,
  error: { message: ({ schema }) => `is ${schema}` },
};

/** Refuses `nullable`, which ajv would accept silently. */
export const nullable: KeywordDefinition = {
  keyword: 'nullable',
  compile: () => {
    throw new Error("nullable is of OpenAPI 3.0: write type: [string, 'null'], or anyOf with type: 'null'");
  },
};
