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

/** Reports a problem: one line that names its place. */
export type ReportProblem = (problem: string) => void;
