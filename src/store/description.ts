/**
 * What a domain keeps, described by data: the engine makes the statements, the cache, the cursors, export and import of it. The
 * compiler holds the description to the contract, so that no field is lost, and none is kept as another type.
 */
import type { components } from '../generated/contract.ts';
import type { Asking } from './asking.ts';
import type { Changing, Collection, Page, PageQuery, Refused } from './collection.ts';

/**
 * `int64` is a bigint, `int32` a number without a fraction; `number` is kept with every digit; `time` is an instant, kept in UTC to the
 * millisecond; `json` is anything else, as JSON text. handlers/README.md has the columns in both databases.
 */
export type ColumnType = 'int64' | 'int32' | 'number' | 'boolean' | 'text' | 'uuid' | 'time' | 'json';

export interface Column {
  column: string;
  type: ColumnType;
  /** The field may be absent. Then NULL is absent. */
  isOptional?: true;
  /** The field may be null. Then NULL is null; a field that may be either is `json`, whose null is a text. */
  isNullable?: true;
  /**
   * The store sets it: the id, the time of the create or of the last change, a number that each change raises, or the tenant, by which
   * all is bound: handlers are given `orders.of(tenant)`, which neither sees nor changes a record of another.
   */
  set?: 'id' | 'created' | 'changed' | 'revision' | 'tenant';
  /** It is the id, and given with the record. */
  is?: 'id';
  /** The value of a record that is created without it. */
  first?: unknown;
  /** The letters a to z are those of A to Z where it is compared, sorted by, or unique. Others are not. */
  ignoresCase?: true;
  /** The collection whose ids it has: the table has a foreign key. */
  of?: string;
  /** It is deleted with the record that it refers to, which cannot be deleted otherwise. */
  onDelete?: 'delete';
}

/** A collection of records, which are what the contract's schema `Name` says. */
export interface Description<Name extends string = string> {
  /** What one of them is called: `book`. */
  noun: string;
  schema: Name;
  table: string;
  /** One for each field of the schema. */
  columns: Columns<SchemaOf<Name>>;
  lists?: {
    /**
     * The fields that lists can be filtered by; all that are given must match. Each wants an index on (column, id): PostgreSQL uses that
     * of the first filter that is given. A new one comes last, so that the cursors that clients have stay valid.
     */
    equal?: readonly FilterName<SchemaOf<Name>>[];
    /** The fields of which a range can be asked for: `{ from, below }`. */
    range?: readonly FilterName<SchemaOf<Name>>[];
    /** Texts whose beginning can be asked for: `nameBegins` of `name`. */
    prefix?: readonly FilterName<SchemaOf<Name>>[];
    /** By name, a field that all records have, with `-` before it where the highest comes first. Each wants an index on (column, id). */
    orders?: Readonly<Record<string, FilterName<SchemaOf<Name>> | `-${FilterName<SchemaOf<Name>>}`>>;
  };
  /** Fields that no two records have in common: the table has a unique index. A second record is refused with the code. */
  unique?: readonly { fields: readonly FilterName<SchemaOf<Name>>[]; code: ErrorCode }[];
  /** What it adds to the catalogue of errors. */
  errors: { readonly [Code in ErrorCode]?: { readonly status: number } };
  /** The folder with the folders `sqlite` and `postgres`, each with its migrations. */
  migrations: URL;
}

/** Any collection, as the engine sees it. */
export interface AnyDescription extends Omit<Description, 'columns' | 'lists' | 'unique' | 'errors'> {
  columns: Readonly<Record<string, Readonly<Column>>>;
  lists?: Lists;
  unique?: readonly { fields: readonly string[]; code: string }[];
  errors: object;
}

export interface Lists {
  equal?: readonly string[];
  range?: readonly string[];
  prefix?: readonly string[];
  orders?: Readonly<Record<string, string>>;
}

/** The collections by their names, under which handlers are given them; made by `npm run generate`. */
export type AnyDomain = Readonly<Record<string, AnyDescription>>;

/** The collections of a domain as handlers are given them, with its transactions. */
export type CollectionsOf<Domain extends AnyDomain, Calls = unknown> = {
  [Name in keyof Domain]: CollectionOf<
    Domain[Name],
    Referenced<Domain, Name>,
    Name extends keyof Calls ? Calls[Name] : unknown
  >;
};
export type CollectionOf<Described extends AnyDescription, Referenced = never, Calls = unknown> = OfTenant<
  TenantOf<Described>,
  Omit<
    Collection<
      SchemaOf<Described['schema']>,
      NewOf<Described>,
      Described['lists'],
      IdOf<Described>,
      ConflictsOf<Described>,
      Referenced
    >,
    Impossible<Described>
  > &
    Calls
>;
type OfTenant<Tenant, All> = [Tenant] extends [never] ? All : { of(tenant: Tenant): All };
/** The type of the value that tells its tenants apart; never where it has none. */
export type TenantOf<Described extends AnyDescription> = ValuesOf<Described, { set: 'tenant' }>;
/** The collections as a transaction is given them. It reads records of now, with what it has changed itself. */
export type CollectionInTransaction<Described extends AnyDescription, Referenced = never> = Omit<
  Changing<
    SchemaOf<Described['schema']>,
    NewOf<Described>,
    IdOf<Described>,
    ConflictsOf<Described>,
    Referenced,
    'steps'
  >,
  Impossible<Described>
> &
  ReadsInTransaction<SchemaOf<Described['schema']>, Described['lists'], IdOf<Described>>;
interface ReadsInTransaction<Found, Lists, Id> {
  get(id: Id): Asking<Found | undefined>;
  list<Query extends PageQuery<Found, Lists>>(
    query: Query & { [Name in Exclude<keyof Query, keyof PageQuery<Found, Lists>>]: never },
  ): Asking<Page<Found> | undefined>;
}
/** An id that the store gives cannot be put. */
type Impossible<Described extends AnyDescription> = FieldsWith<Described, { is: 'id' }> extends never ? 'put' : never;
/** Why one of a collection cannot be deleted; never where none refers to it. */
export type Referenced<Domain extends AnyDomain, Name> = {
  [Child in keyof Domain]: {
    [Field in keyof Domain[Child]['columns']]: Domain[Child]['columns'][Field] extends { of: Name }
      ? Domain[Child]['columns'][Field] extends { onDelete: 'delete' }
        ? Referenced<Domain, Child>
        : Refused<'referenced'>
      : never;
  }[keyof Domain[Child]['columns']];
}[keyof Domain];

/** Why a record may be refused beside those that there are; never where it cannot be. */
type ConflictsOf<Described extends AnyDescription> =
  | RefusedIf<Described['unique'] extends readonly { code: infer Code extends string }[] ? Code : never>
  | RefusedIf<ParentsOf<Described> extends infer Of ? (Of extends string ? `no_such_${Of}` : never) : never>
  | RefusedIf<FieldsWith<Described, { is: 'id' }> extends never ? never : 'exists'>;
type RefusedIf<Why> = [Why] extends [never] ? never : Refused<Why & string>;
/** The collections that it refers to. */
type ParentsOf<Described extends AnyDescription> = {
  [Field in keyof Described['columns']]: Described['columns'][Field] extends { of: infer Of } ? Of : never;
}[keyof Described['columns']];

type IdOf<Described extends AnyDescription> = ValuesOf<Described, { set: 'id' } | { is: 'id' }>;
type ValuesOf<Described extends AnyDescription, Trait> =
  SchemaOf<Described['schema']> extends infer Found ? Found[FieldsWith<Described, Trait> & keyof Found] : never;

/**
 * What a record is created from: its schema without what the store sets, which may not be given; what has a first value may be left out.
 */
export type NewOf<Described extends AnyDescription> =
  SchemaOf<Described['schema']> extends infer Found
    ? Flat<
        Omit<Found, FieldsWith<Described, { set: string }> | FieldsWith<Described, { first: unknown }>> &
          Partial<Pick<Found, FieldsWith<Described, { first: unknown }> & keyof Found>> & {
            [Name in FieldsWith<Described, { set: string }> & keyof Found]?: never;
          }
      >
    : never;
type FieldsWith<Described extends AnyDescription, Trait> = {
  [Name in keyof Described['columns']]: Described['columns'][Name] extends Trait ? Name : never;
}[keyof Described['columns']];
type Flat<T> = { [Key in keyof T]: T[Key] };

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
  : { [Name in keyof Found]-?: Exclude<Found[Name], null | undefined> extends Scalar ? Name : never }[keyof Found] &
      string;
type Scalar = bigint | string | number | boolean;

/** Every field of the schema. Where it allows fields that it does not name, no columns compile. */
type Columns<Found> = Found extends NotInTheContract
  ? Record<string, Column>
  : string extends keyof Found
    ? never
    : { [Name in keyof Found]-?: ColumnFor<Found, Name> };
type ColumnFor<Found, Name extends keyof Found> = { column: string; type: TypeOf<Found[Name]> } & Pick<
  Column,
  'of' | 'onDelete' | 'ignoresCase'
> &
  SetOf<Found[Name]> &
  OptionalOf<Found[Name]> &
  NullableOf<Found[Name]>;
/** What the store can set to a value of this type, or what it is. */
type SetOf<Value> =
  | {
      set?:
        | ([Value] extends [bigint | string] ? 'id' | 'tenant' : never)
        | ([Value] extends [bigint] ? 'revision' : 'created' | 'changed');
      is?: never;
      first?: never;
    }
  | { set?: never; is?: 'id'; first?: never }
  | { set?: never; is?: never; first?: Value };
type OptionalOf<Value> = undefined extends Value ? { isOptional: true } : { isOptional?: never };
type NullableOf<Value> = null extends Value ? { isNullable: true } : { isNullable?: never };
type TypeOf<Value> = [null | undefined] extends [Extract<Value, null | undefined>]
  ? 'json'
  : ScalarTypeOf<Exclude<Value, null | undefined>>;
type ScalarTypeOf<Value> = [Value] extends [bigint]
  ? 'int64'
  : [Value] extends [string]
    ? 'text' | 'uuid' | 'time' | 'json'
    : [Value] extends [number]
      ? 'int32' | 'number'
      : [Value] extends [boolean]
        ? 'boolean'
        : 'json';
