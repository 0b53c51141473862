/** Configures ajv for the contract's schemas. */
import { Ajv2020, type CodeKeywordDefinition, type ErrorObject, type KeywordDefinition } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { toInstant } from '../../json/instant.ts';
import { type Fault, toFaults } from './faults.ts';
import { bounds, int64, largeDefaults, multiple, numeric } from './int64-keywords.ts';
import { type AtEnd, type CanonicalKeys, contains, equals, untilMaxErrors } from './linear-keywords.ts';
import { countWhereIfFits, seenFields } from './seen-fields.ts';
import type { ValidatorCache } from './validator-cache.ts';

/** Validates schemas of all contracts: otherwise each ajv instance would compile the meta-schema again. */
let ofSchemas: Ajv2020 | undefined;

function buildAjvOfSchemas(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, logger: false });
  addFormats.default(ajv);
  return ajv;
}

/** How the schemas of one document are compiled. */
export interface SchemaSource {
  /** Whether schemas are judged: by the build, which compiles each as a whole. The server compiles one when it is first called. */
  isJudged?: boolean;
  /** Whether unknown keywords and formats, and defaults that cannot be filled in, are errors; otherwise they are annotations. */
  isStrict?: boolean;
}

/** State of one validation, forgotten at its end. */
export interface ValidationRun {
  functions: ValidatorCache;
  keys: CanonicalKeys;
  atEnd: AtEnd;
}

/** Escapes, each as a whole, and named classes such as `[:alpha:]`. */
const WORD = /\\(?:p\{[^}]*\}|[xu]\{|.)|\[:\^?\w+:\]/gis;
/** Escapes of Java, Perl, .NET and POSIX that JavaScript does not have. */
const FOREIGN = /^(?:\\[A-Za-z]|\[)(?<!\\[BDSWbcdfknrstuvwx])|^\\[xu]\{/;
const IN_JAVASCRIPT: Record<string, string> = { '\\A': '^', '\\z': '$', '\\Z': '$', '\\h': '[\\t ]', '\\R': '\\r?\\n' };

/**
 * Patterns use the `u` flag (JSON Schema 2020-12, Core, section 6.4), but many are valid only without it, such as `[\w-.]`.
 * @throws Error for escapes of another language: without `u`, JavaScript would read them as letters
 */
export function toRegExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    const [foreign] = [...pattern.matchAll(WORD)].map(([word]) => word).filter((word) => FOREIGN.test(word));
    if (foreign === undefined) return new RegExp(pattern);
    const advice = IN_JAVASCRIPT[foreign] ?? 'its characters, such as [A-Za-z]';
    throw new Error(`pattern ${pattern}: ${foreign} means nothing in JavaScript: write ${advice}`);
  }
}
toRegExp.code = 'new RegExp';

export function addKnownFormats(ajv: Ajv2020): void {
  addFormats.default(ajv);
  // ajv's own format `url` takes quadratic time.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text));
  // A time that a store can keep.
  ajv.addFormat('date-time', (text: string) => toInstant(text) !== undefined);
  // `decimal` is an annotation: the handler reads the text.
  ajv.addFormat('decimal', true);
  // `binary` is not for JSON.
  delete ajv.formats.binary;
}

export function buildAjv(
  { isJudged = false, isStrict = false }: SchemaSource,
  useDefaults: boolean,
  run: ValidationRun,
): Ajv2020 {
  const strictness = { strict: isStrict, strictNumbers: true, strictTypes: false, strictRequired: false } as const;
  const code = { optimize: false, ...(!isStrict && { regExp: toRegExp }) };
  const checks = { meta: false, validateSchema: isJudged, code };
  const ajv = new Ajv2020({ allErrors: true, ...strictness, useDefaults, logger: false, ...checks });
  ajv.validateSchema = (schema) => {
    ofSchemas ??= buildAjvOfSchemas();
    if (ofSchemas.validateSchema(schema)) return true;
    const [{ pointer, words }] = toFaults(ofSchemas.errors as ErrorObject[]) as [Fault];
    throw new Error(`${pointer.slice(pointer.lastIndexOf('/') + 1)} ${words}`);
  };
  addKnownFormats(ajv);
  const { uniqueItems } = run.keys;
  for (const keyword of ['nullable', 'uniqueItems', 'contains']) ajv.removeKeyword(keyword);
  if (isStrict) ajv.addKeyword(nullable);
  const ofNumbers = [int64, numeric, bounds, multiple, largeDefaults];
  for (const keyword of [hidden, ...ofNumbers, contains, uniqueItems, equals, untilMaxErrors, seenFields]) {
    ajv.addKeyword(keyword);
  }
  countWhereIfFits(ajv.getKeyword('if') as CodeKeywordDefinition);
  ajv.addKeyword(run.functions.keyword);
  return ajv;
}

/** `hidden: 'read-only'` rejects every value, with the reason. */
const hidden: KeywordDefinition = {
  keyword: 'hidden',
  schema: true,
  validate: () => false,
  error: { message: ({ schema }) => `is ${schema}` },
};

/** Reports `nullable`, which ajv would accept silently. */
const nullable: KeywordDefinition = {
  keyword: 'nullable',
  compile: () => {
    throw new Error("nullable is of OpenAPI 3.0: write type: [string, 'null'], or anyOf with type: 'null'");
  },
};
