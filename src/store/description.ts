/**
 * What a domain keeps, described by data: the engine makes the statements, the cache, the cursors, export and import of it. The
 * compiler holds the description to the contract, so that no field is lost, and none is kept as another type.
 */
import type { components } from '../generated/contract.ts';
import type { Collection } from './collection.ts';

/**
 * `int64` is a bigint; `number` is kept with every digit; `json` is anything else, as JSON text. The columns are, in SQLite, INTEGER
 * for `int64` and `boolean`, and TEXT for all others; in PostgreSQL bigint, boolean, double precision, and text for all others.
 */
export type ColumnType = 'int64' | 'text' | 'number' | 'boolean' | 'json';

export interface Column {
  column: string;
  type: ColumnType;
  /** The field may be absent. Then NULL is absent. */
  isOptional?: true;
  /** The field may be null. Then NULL is null; a field that may be either is `json`, whose null is a text. */
  isNullable?: true;
}

/** A domain that keeps the contract's schema `Name`, and makes it of `NewName`. */
export interface Domain<Name extends string = string, NewName extends string = string> {
  /** Under which handlers are given it: `books`. */
  name: string;
  /** What one of them is called: `book`. */
  noun: string;
  schema: Name;
  newSchema: NewName;
  table: string;
  columns: Columns<SchemaOf<Name>, SchemaOf<NewName>>;
  /**
   * The fields that lists can be filtered by; all that are given must match. Each wants an index on (column, id): PostgreSQL uses that
   * of the first filter that is given. A new one comes last, so that the cursors that clients have stay valid.
   */
  filters: readonly FilterName<SchemaOf<Name>>[];
  /** What it adds to the catalogue of errors. */
  errors: { readonly [Code in ErrorCode]?: { readonly status: number } };
  /** The folder with the folders `sqlite` and `postgres`, each with its migrations. */
  migrations: URL;
}

/** Any domain, as the engine sees it. */
export interface AnyDomain extends Omit<Domain, 'columns' | 'filters' | 'errors'> {
  columns: Readonly<Record<string, Readonly<Column>>>;
  filters: readonly string[];
  errors: object;
}

/** What handlers are given of a domain. */
export type CollectionsOf<Kept extends AnyDomain> = { [Name in Kept['name']]: CollectionOf<Kept> };
export type CollectionOf<Kept extends AnyDomain> = Collection<
  SchemaOf<Kept['schema']>,
  SchemaOf<Kept['newSchema']>,
  Kept['filters'][number] & string
>;

/** A domain that was left behind when the contract was replaced still compiles: nobody can use it. */
declare const absent: unique symbol;
interface NotInTheContract {
  readonly [absent]: true;
}
type Schemas = components extends { schemas: infer All } ? All : never;
export type SchemaOf<Name extends string> = [Schemas] extends [never]
  ? NotInTheContract
  : Name extends keyof Schemas
    ? Schemas[Name]
    : NotInTheContract;
type ErrorCode = components extends { schemas: { Error: { code: infer Code extends string } } } ? Code : string;

type FilterName<Found> = Found extends NotInTheContract
  ? string
  : { [Name in keyof Found]-?: Exclude<Found[Name], null | undefined> extends Scalar ? Name : never }[keyof Found];
type Scalar = bigint | string | number | boolean;

/** Every field of both schemas. Where they allow fields that they do not name, no columns compile. */
type Columns<Found, New> = Found extends NotInTheContract
  ? Record<string, Column>
  : string extends keyof Found | keyof New
    ? never
    : { [Name in keyof Found | keyof New]-?: ColumnFor<Found, New, Name> };
type ColumnFor<Found, New, Name> = Name extends 'id'
  ? { column: 'id'; type: 'int64' }
  : Name extends keyof Found
    ? [Name extends keyof New ? New[Name] : undefined] extends [Found[Name]]
      ? { column: string; type: TypeOf<Found[Name]> } & OptionalOf<Found[Name]> & NullableOf<Found[Name]>
      : never
    : never;
type OptionalOf<Value> = undefined extends Value ? { isOptional: true } : { isOptional?: never };
type NullableOf<Value> = null extends Value ? { isNullable: true } : { isNullable?: never };
type TypeOf<Value> = [null | undefined] extends [Extract<Value, null | undefined>]
  ? 'json'
  : ScalarTypeOf<Exclude<Value, null | undefined>>;
type ScalarTypeOf<Value> = [Value] extends [bigint]
  ? 'int64'
  : [Value] extends [string]
    ? 'text' | 'json'
    : [Value] extends [number]
      ? 'number'
      : [Value] extends [boolean]
        ? 'boolean'
        : 'json';
