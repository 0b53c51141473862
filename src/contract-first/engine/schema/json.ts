/** The types of JSON Schema. */

/** A JSON Schema (2020-12): `true` accepts any value, `false` none, an object the values that its keywords allow. */
export type Schema = boolean | Keywords;

type Named<Value> = Record<string, Value>;
type Lengths = Partial<Record<'minLength' | 'maxLength' | 'minItems' | 'maxItems', number>>;
type Bound = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf';

/** The keywords that we read, with their types by JSON Schema. A schema that breaks these types is an error when it is compiled. */
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

/** Whether the value is an object or array. */
export const isNode = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

export const isMap = (value: unknown): value is Record<string, unknown> => isNode(value) && !Array.isArray(value);

/** The keywords of a schema; none for `true` and `false`. */
export const keywordsOf = (schema: Schema | undefined): Keywords => (isNode(schema) ? schema : {});

/** A problem of a contract. */
export interface ContractProblem {
  /** The problem in one line, which names the part. */
  words: string;
  /**
   * The JSON Pointer to the part, through references. Keys between a schema and the fields in it may be left out. Undefined if the words
   * begin with a position.
   */
  pointer?: string | undefined;
}

/** Reports a problem of a part, with the pointer from this part to the one that is wrong. */
export type ReportProblem = (words: string, pointer?: string) => void;

/** Reports problems of a part inside another: `name` begins the words, and `at` is its pointer there. */
export const reportIn =
  (report: ReportProblem, at: string, name = ''): ReportProblem =>
  (words, pointer = '') =>
    report(name + words, at + pointer);
