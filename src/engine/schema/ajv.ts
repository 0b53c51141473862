/** ajv, as the contract's schemas need it. */
import { Ajv2020, type CodeKeywordDefinition } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { contains, untilMaxErrors } from './bounded-keywords.ts';
import { hidden, nullable } from './contract-keywords.ts';
import { type CanonicalKeys, equals } from './equality.ts';
import type { Functions } from './functions.ts';
import { bounds, int64, largeDefaults, multiple, numeric } from './int64-keywords.ts';
import { countWhereIfFits, seenFields } from './seen-fields.ts';

/** Checks schemas of all contracts: ajv would compile the schema of schemas for each instance that does so. */
let ofSchemas: Ajv2020 | undefined;

function buildAjvOfSchemas(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, logger: false });
  addFormats.default(ajv);
  return ajv;
}

/** What is known of the schemas of one document. */
export interface SchemaSource {
  /** Whether its schemas are known to be valid ones. */
  isChecked: boolean;
  /** Refuses keywords and formats that are unknown, and defaults that cannot be filled in; without, they are annotations. */
  isStrict?: boolean;
}

/** What a run has found, and forgets at its end. */
export interface Run {
  functions: Functions;
  keys: CanonicalKeys;
}

/** Escapes, each as a whole, and classes by name. */
const WORD = /\\(?:p\{[^}]*\}|[xu]\{|.)|\[:\^?\w+:\]/gis;
/** Escapes of Java, Perl, .NET and POSIX, beside the letters that mean something in JavaScript. */
const FOREIGN = /^(?:\\[A-Za-z]|\[)(?<!\\[BDSWbcdfknrstuvwx])|^\\[xu]\{/;
const IN_JAVASCRIPT: Record<string, string> = { '\\A': '^', '\\z': '$', '\\Z': '$', '\\h': '[\\t ]', '\\R': '\\r?\\n' };

/**
 * Patterns are of Unicode (JSON Schema 2020-12, Core, section 6.4); many are written for expressions without it, such as `[\w-.]`.
 * @throws Error for one of another language, whose words would be taken for their letters
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
  // ajv's own takes squares of the length.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text));
  // An annotation: the text is the handler's to understand.
  ajv.addFormat('decimal', true);
  // Bytes have no place in JSON.
  delete ajv.formats.binary;
}

export function buildAjv({ isChecked, isStrict = false }: SchemaSource, useDefaults: boolean, run: Run): Ajv2020 {
  const strictness = { strict: isStrict, strictNumbers: true, strictTypes: false, strictRequired: false } as const;
  const code = { optimize: false, ...(!isStrict && { regExp: toRegExp }) };
  const checks = { meta: false, validateSchema: !isChecked, code };
  const ajv = new Ajv2020({ allErrors: true, ...strictness, useDefaults, logger: false, ...checks });
  ajv.validateSchema = (...args) => {
    ofSchemas ??= buildAjvOfSchemas();
    return ofSchemas.validateSchema(...args);
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
