/** The types of JSON Schema. */

/**
 * A JSON Schema (2020-12). `true` accepts any value, `false` accepts none, and an object accepts the values that its
 * keywords allow.
 */
export type Schema = boolean | Keywords;

type Named<Value> = Record<string, Value>;
type Lengths = Partial<Record<'minLength' | 'maxLength' | 'minItems' | 'maxItems', number>>;
type Bound = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf';

/**
 * The keywords that the engine reads, with their types in JSON Schema. A keyword of any other type is an error when the
 * schema is compiled.
 */
export interface Keywords extends Lengths, Partial<Record<Bound, number | bigint>> {
  $ref?: string;
  type?: string | string[] | undefined;
  format?: string;
  pattern?: string;
  description?: string;
  enum?: unknown[];
  examples?: unknown[];
  required?: string[] | undefined;
  properties?: Named<Schema> | undefined;
  patternProperties?: Named<Schema>;
  propertyNames?: Schema;
  additionalProperties?: Schema;
  unevaluatedProperties?: Schema;
  not?: Schema;
  if?: Schema;
  then?: Schema;
  else?: Schema;
  contains?: Schema;
  minContains?: number;
  maxContains?: number;
  dependentRequired?: Named<string[]>;
  dependentSchemas?: Named<Schema>;
  items?: Schema | undefined;
  prefixItems?: Schema[];
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  discriminator?: { propertyName: string; mapping?: Named<string> };
  'x-extensible-enum'?: string[];
  [other: string]: unknown;
}

/** True if the value is an object or an array. */
export const isNode = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

export const isMap = (value: unknown): value is Record<string, unknown> => isNode(value) && !Array.isArray(value);

/** Returns the keywords of a schema: an empty object for `true`, `false` and undefined. */
export const keywordsOf = (schema: Schema | undefined): Keywords => (isNode(schema) ? schema : {});

/** A problem in a contract. */
export interface ContractProblem {
  /** A single line that describes the problem and names the faulty node. */
  words: string;
  /**
   * The JSON Pointer to the faulty node, which may lead through references. Keys between a schema and its fields, such
   * as `properties`, may be omitted. Undefined if `words` already begins with a line and column.
   */
  pointer?: string | undefined;
}

/** Reports a problem of a contract. `pointer` leads from the node that the caller is checking to the faulty node. */
export type ReportProblem = (words: string, pointer?: string) => void;

/**
 * Makes a function that reports problems of an inner node: it puts `name` in front of the words, and `at` in front of
 * the pointer.
 */
export const reportIn =
  (report: ReportProblem, at: string, name = ''): ReportProblem =>
  (words, pointer = '') =>
    report(name + words, at + pointer);
