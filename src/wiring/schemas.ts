/** The contract's schemas as ajv takes them. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Json } from '../contract/contract.ts';
import { isInt64Schema } from '../json/int64.ts';
import { BOUNDS, int64 } from './int64-keyword.ts';

/** Words of OpenAPI's schemas that say nothing about validity (OpenAPI 3.1, section 4.8.24). */
const OPENAPI_ANNOTATIONS = ['discriminator', 'example', 'externalDocs', 'xml'];

/**
 * The schema with every 64-bit integer put into the hands of the keyword `int64`, and without the defaults of what is
 * required: they would fill in what must be refused.
 */
export function prepare(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(prepare);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (isInt64Schema(schema)) {
    const bounds = Object.keys(BOUNDS).filter((keyword) => keyword in schema);
    const int64 = Object.fromEntries(bounds.map((keyword) => [keyword, schema[keyword]]));
    return 'default' in schema ? { int64, default: schema.default } : { int64 };
  }
  const prepared = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, prepare(value)]));
  const required: string[] = Array.isArray(schema.required) ? schema.required : [];
  for (const name of required) delete prepared.properties?.[name]?.default;
  return prepared;
}

export function buildAjv(document: Json): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, useDefaults: true });
  addFormats.default(ajv);
  ajv.addKeyword(int64);
  const extensions = JSON.stringify(document).match(/(?<=")x-[\w-]+(?=":)/g) ?? [];
  ajv.addVocabulary([...OPENAPI_ANNOTATIONS, ...new Set(extensions)]);
  return ajv;
}
