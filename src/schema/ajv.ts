/** The contract's schemas as ajv takes them. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { hidden, nullable } from './contract-keywords.ts';
import { BOUND_NAMES, int64, int64Bounds } from './int64-keywords.ts';
import { type Place, placeUnder } from './int64-places.ts';
import type { Json } from './json.ts';
import { targetOf } from './recursion.ts';
import { mapSubschemas } from './subschemas.ts';

/** Keywords of OpenAPI's schemas that say nothing about validity (OpenAPI 3.1, section 4.8.24). */
const OPENAPI_ANNOTATIONS = ['discriminator', 'example', 'externalDocs', 'xml'];

/** Checks schemas of all contracts: ajv would compile the schema of schemas for each instance that does so. */
let ofSchemas: Ajv2020 | undefined;

function buildAjvOfSchemas(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, logger: false });
  addFormats.default(ajv);
  return ajv;
}

/** The document that schemas are of. */
interface SchemaSource {
  document: Json;
  /** Whether its schemas are known to be valid ones. */
  isChecked: boolean;
}

/** `useDefaults` fills in what a value leaves out: in a request, never in a reply. */
export function buildAjv({ document, isChecked }: SchemaSource, useDefaults: boolean): Ajv2020 {
  const strictness = { strict: true, strictTypes: false, strictRequired: false };
  const checks = { meta: false, validateSchema: !isChecked };
  const ajv = new Ajv2020({ allErrors: true, ...strictness, useDefaults, logger: false, ...checks });
  ajv.validateSchema = (...args) => {
    ofSchemas ??= buildAjvOfSchemas();
    return ofSchemas.validateSchema(...args);
  };
  addFormats.default(ajv);
  // An annotation: the text is the handler's to understand.
  ajv.addFormat('decimal', true);
  // Bytes have no place in JSON.
  delete ajv.formats.binary;
  ajv.addKeyword(hidden);
  ajv.removeKeyword('nullable').addKeyword(nullable);
  ajv.addKeyword(int64);
  ajv.addKeyword(int64Bounds);
  const extensions = JSON.stringify(document).match(/(?<=")x-[\w-]+(?=":)/g) ?? [];
  ajv.addVocabulary([...OPENAPI_ANNOTATIONS, ...new Set(extensions)]);
  return ajv;
}

/**
 * The schema with our keywords for 64-bit integers, and without the defaults of required fields: ajv would fill in what must
 * be refused.
 */
export function prepare(schema: Json, place: Place): Json {
  if (typeof schema === 'boolean' || targetOf(schema)) return schema;
  const prepared = mapSubschemas(schema, (subschema, keyword, name) =>
    prepare(subschema, placeUnder(place, keyword, name)),
  );
  for (const name of schema.required ?? []) delete prepared.properties?.[name]?.default;
  return place.isInt64 ? withInt64(prepared) : prepared;
}

/** Types other than numbers stay: in `anyOf` a 64-bit integer or a string, the string is unchanged. */
function withInt64(schema: Json): Json {
  const { type, format, ...others } = schema;
  const types: string[] = [type ?? []].flat();
  const rest = types.filter((name) => name !== 'integer' && name !== 'number');
  const made = rest.length === types.length ? { ...schema } : { ...others, int64: rest };
  const bounds = BOUND_NAMES.filter((name) => name in made).map((name) => [name, made[name]]);
  for (const [name] of bounds) delete made[name];
  return bounds.length > 0 ? { ...made, int64Bounds: Object.fromEntries(bounds) } : made;
}
