/** Configures ajv for the contract's schemas. */
import { Ajv2020, type CodeKeywordDefinition, type ErrorObject, type KeywordDefinition } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { toInstant } from '../../json/instant.ts';
import { type Fault, toFaults } from './faults.ts';
import { bounds, int64, largeDefaults, multiple, numeric } from './int64-keywords.ts';
import { type AtEnd, type CanonicalKeys, contains, equals, untilMaxErrors } from './linear-keywords.ts';
import { countWhereIfFits, seenFields } from './seen-fields.ts';
import type { ValidatorCache } from './validator-cache.ts';

/**
 * Validates schemas against the meta-schema. The contracts of a process share this instance: otherwise each ajv
 * instance would compile the meta-schema again.
 */
let ofSchemas: Ajv2020 | undefined;

function buildAjvOfSchemas(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, logger: false });
  addFormats.default(ajv);
  return ajv;
}

/** Options of the compiler of a document's schemas. */
export interface SchemaSource {
  /**
   * True in the build: each schema is validated against the meta-schema, and compiled together with all schemas that it
   * calls. False in the server: a schema is compiled when it is first called.
   */
  isJudged?: boolean;
  /**
   * If true, unknown keywords, unknown formats and defaults that ajv cannot fill in are errors. If false, they are
   * ignored.
   */
  isStrict?: boolean;
}

/** The state of the running validation, which is cleared at the end of the validation. */
export interface ValidationRun {
  functions: ValidatorCache;
  keys: CanonicalKeys;
  atEnd: AtEnd;
}

/** Matches escapes of a regular expression, each as a whole, and named classes such as `[:alpha:]`. */
const WORD = /\\(?:p\{[^}]*\}|[xu]\{|.)|\[:\^?\w+:\]/gis;
/** Matches escapes and named classes of Java, Perl, .NET and POSIX that JavaScript does not support. */
const FOREIGN = /^(?:\\[A-Za-z]|\[)(?<!\\[BDSWbcdfknrstuvwx])|^\\[xu]\{/;
const IN_JAVASCRIPT: Record<string, string> = { '\\A': '^', '\\z': '$', '\\Z': '$', '\\h': '[\\t ]', '\\R': '\\r?\\n' };

/**
 * Compiles a pattern with the `u` flag (JSON Schema 2020-12, Core, section 6.4). A pattern that is only valid without
 * `u`, such as `[\w-.]`, is compiled without it.
 * @throws Error for escapes from other languages, which JavaScript would read as letters without `u`
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
  // ajv's own check of the format `url` takes quadratic time.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text));
  // Accepts only times that the store can keep.
  ajv.addFormat('date-time', (text: string) => toInstant(text) !== undefined);
  // `decimal` accepts every text, because the handler parses it.
  ajv.addFormat('decimal', true);
  // `binary` does not mean anything in JSON.
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

/** The keyword `hidden: 'read-only'` rejects every value, with the message `is read-only`. */
const hidden: KeywordDefinition = {
  keyword: 'hidden',
  schema: true,
  validate: () => false,
  error: { message: ({ schema }) => `is ${schema}` },
};

/** Makes `nullable` an error, because ajv would accept it silently. */
const nullable: KeywordDefinition = {
  keyword: 'nullable',
  compile: () => {
    throw new Error("nullable is of OpenAPI 3.0: write type: [string, 'null'], or anyOf with type: 'null'");
  },
};
