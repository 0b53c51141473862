/** What every file about schemas speaks of. */

/** A JSON Schema (2020-12): `true` takes any value, `false` none, and an object what its keywords say. */
export type Schema = boolean | Keywords;

type Named<Value> = Record<string, Value>;
type Lengths = Partial<Record<'minLength' | 'maxLength' | 'minItems' | 'maxItems', number>>;
type Bound = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf';

/** The keywords that are read, with the types that JSON Schema gives them: a schema with others is refused when it is compiled. */
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
  items?: Schema | undefined;
  prefixItems?: Schema[];
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  discriminator?: { propertyName: string; mapping?: Named<string> };
  'x-extensible-enum'?: string[];
  [other: string]: unknown;
}

/** Whether it has fields or items, of which nothing else is known. */
export const isNode = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** None, where a schema takes any value, or no value. */
export const keywordsOf = (schema: Schema | undefined): Keywords => (isNode(schema) ? schema : {});

/** Records a problem: one line that names its place. */
export type Refuse = (problem: string) => void;
