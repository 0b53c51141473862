/**
 * The description of a domain's collections, as data. The store derives statements, caches, cursors and moves from it. The
 * compiler checks it against the contract, so that no field is lost, or stored with another type.
 */
import type { Unmarked } from '../../json/marked.ts';
import type { Whole } from '../../json/whole-records.ts';
import type { components } from '../../registered.ts';
import type { AllQuery, Changing, Collection, NoOther, PageOf, PageQuery, Refused, SqlSteps } from '../collection.ts';

/**
 * `int64` is a bigint, `int32` an integer as a number; `number` is stored with every digit; `time` is an instant, stored in UTC to the
 * millisecond; `json` is anything else, as JSON text. guide/records.md has the column types of both databases.
 */
export type ColumnType = 'int64' | 'int32' | 'number' | 'boolean' | 'text' | 'uuid' | 'time' | 'json';

export interface Column {
  /** By default the field's name in snake case. */
  column?: string;
  type: ColumnType;
  /** The field may be absent. NULL means absent. */
  isOptional?: true;
  /** The field may be null. NULL means null. A field that may be absent or null has the type `json`, whose null is a text. */
  isNullable?: true;
  /**
   * The store sets the field: the id, the time of the create or of the last change, a revision that each change increments, or the
   * tenant. No record with the same id, before or after it, has the same revision. With a tenant, handlers use `orders.of(tenant)`, which neither sees nor changes records of other tenants.
   */
  set?: 'id' | 'created' | 'changed' | 'revision' | 'tenant';
  /** The field is the id, and set by the creator of the record. */
  is?: 'id';
  /** The value in a record that is created without this field. */
  first?: unknown;
  /** Comparisons, orders and unique indexes ignore the case of the letters a to z, and of no others. */
  ignoresCase?: true;
  /** The field has ids of this collection: the table has a foreign key. */
  of?: string;
  /** The record is deleted with the record that it refers to. Without this, that record cannot be deleted. */
  onDelete?: 'delete';
}

/** A column that no field of the contract describes. */
type FreeColumn = { [Type in ColumnType]: FreeColumnOf<Type> }[ColumnType];
interface FreeColumnOf<Type extends ColumnType> extends Omit<Column, 'set' | 'first'> {
  type: Type;
  set?: Type extends keyof FreeSets ? FreeSets[Type] : never;
  first?: ColumnValues[Type] | null;
  /** The schema of the contract that values fit. By default, the column's type alone decides. */
  schema?: SchemaName;
}
interface FreeSets {
  int64: 'id' | 'tenant' | 'revision';
  text: 'id' | 'tenant' | 'created' | 'changed';
  uuid: 'id' | 'tenant';
  time: 'created' | 'changed';
}
interface ColumnValues {
  int64: bigint;
  int32: number;
  number: number;
  boolean: boolean;
  text: string;
  uuid: string;
  time: string;
  json: unknown;
}

/**
 * A collection of records with the contract's schema `Name`, and with internal columns of these names. Without a schema, the columns alone
 * describe the records.
 */
export type Description<Name extends string = never, Internal extends string = never> = [Name] extends [never]
  ? Described<string> & { schema?: never; columns: Readonly<Record<string, FreeColumn>>; internal?: never }
  : Described<FilterName<SchemaOf<Name>> | Internal> & {
      /** The schema of the records that clients see. */
      schema: Name;
      /** A column for each field of the schema. */
      columns: Columns<SchemaOf<Name>>;
    } & InternalColumns<SchemaOf<Name>, Internal>;

/** Columns that are in every row, and that no client sees. */
type InternalColumns<Found, Internal extends string> = [Internal] extends [never]
  ? { internal?: never }
  : { internal: { [Name in Internal]: Name extends keyof Found ? never : FreeColumn & { is?: never } } };

/** The parts of a description that name fields. */
interface Described<Filter extends string> {
  /** The word for one record: `book`. */
  noun: string;
  table: string;
  /** A text that is in an index has 2,600 bytes at most, together with the index's other texts: a longer one is 400. */
  lists?: {
    /**
     * The fields that lists can be filtered by; several filters must all match. Each needs an index on (column, id); PostgreSQL uses the
     * index of the first filter in a query. Add new fields at the end, so that cursors of clients stay valid.
     */
    equal?: readonly Filter[];
    /** The fields that can be filtered by a range: `{ from, below }`. */
    range?: readonly Filter[];
    /** The texts that can be filtered by their beginning: `nameBegins` for `name`. */
    prefix?: readonly Filter[];
    /** Filters that every list has: an account's entries. They come first in the indexes. */
    always?: readonly Filter[];
    /**
     * Orders by name: a field or several, each with `-` for descending. Records without a value come last. The id ends each order.
     */
    orders?: Readonly<Record<string, OrderBy<Filter> | readonly OrderBy<Filter>[]>>;
    /** How many records `skip` may leave out, for contracts that page by number: a page far behind is slow. More are 400. */
    skip?: number;
    /** Whether lists can count all their records, which takes longer the more there are. */
    count?: true;
  };
  /** Unique sets of fields: the table has a unique index, and a second record is refused with the code. */
  unique?: readonly { fields: readonly Filter[]; code: ErrorCode }[];
  /** The codes that the collection adds to the catalogue of errors. */
  errors: { readonly [Code in ErrorCode]?: { readonly status: number; readonly message?: string } };
  /** The folder with the migrations, in folders `sqlite` and `postgres`. */
  migrations: URL;
}

type OrderBy<Filter extends string> = Filter | `-${Filter}`;

/** The description of any collection, for code that does not know the contract's types. */
export interface AnyDescription extends Omit<Described<string>, 'lists' | 'unique' | 'errors'> {
  schema?: string;
  columns: Readonly<Record<string, AnyColumn>>;
  internal?: Readonly<Record<string, AnyColumn>>;
  lists?: Lists;
  unique?: readonly { fields: readonly string[]; code: string }[];
  errors: object;
}
export type AnyColumn = Readonly<Column> & { readonly schema?: string };

export interface Lists {
  always?: readonly string[];
  equal?: readonly string[];
  range?: readonly string[];
  prefix?: readonly string[];
  orders?: Readonly<Record<string, string | readonly string[]>>;
  skip?: number;
  count?: true;
}

/** The collections by the names that handlers use; generated by `npm run generate`. */
export type AnyDomain = Readonly<Record<string, AnyDescription>>;

/** The collections of a domain for handlers, with its transactions. */
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
      RowOf<Described>,
      NewOf<Described>,
      Described['lists'],
      IdOf<Described>,
      ConflictsOf<Described>,
      Referenced,
      ShownOf<Described>
    >,
    Impossible<Described>
  > &
    Calls
>;
type OfTenant<Tenant, All> = [Tenant] extends [never] ? All : { of(tenant: Tenant): All };
/** The type of the tenant; `never` without tenants. */
export type TenantOf<Described extends AnyDescription> = ValuesOf<Described, { set: 'tenant' }>;
/** A collection within a transaction. Reads see the transaction's own changes. */
export type CollectionInTransaction<Described extends AnyDescription, Referenced = never> = Omit<
  Changing<RowOf<Described>, NewOf<Described>, IdOf<Described>, ConflictsOf<Described>, Referenced, 'steps'>,
  Impossible<Described>
> &
  ReadsInTransaction<RowOf<Described>, Described['lists'], IdOf<Described>>;
interface ReadsInTransaction<Found, Lists, Id> {
  get(id: Id): SqlSteps<Found | undefined>;
  list<const Query extends PageQuery<Found, Lists>>(
    query: Query & NoOther<Query, PageQuery<Found, Lists>>,
  ): SqlSteps<PageOf<Query, Found>>;
  all<const Query extends AllQuery<Found, Lists>>(
    query: Query & NoOther<Query, AllQuery<Found, Lists>>,
  ): SqlSteps<Found[]>;
}
/** `put` is only for ids that clients choose. */
type Impossible<Described extends AnyDescription> = FieldsWith<Described, { is: 'id' }> extends never ? 'put' : never;
/** Why a record cannot be deleted; `never` if no collection refers to it. */
export type Referenced<Domain extends AnyDomain, Name> = {
  [Child in keyof Domain]: {
    [Field in keyof ColumnsOf<Domain[Child]>]: ColumnsOf<Domain[Child]>[Field] extends { of: Name }
      ? ColumnsOf<Domain[Child]>[Field] extends { onDelete: 'delete' }
        ? Referenced<Domain, Child>
        : Refused<'referenced'>
      : never;
  }[keyof ColumnsOf<Domain[Child]>];
}[keyof Domain];

/** Why a new record may conflict with existing ones; `never` if it cannot. */
type ConflictsOf<Described extends AnyDescription> =
  | RefusedUnlessNever<Described['unique'] extends readonly { code: infer Code extends string }[] ? Code : never>
  | RefusedUnlessNever<ParentsOf<Described> extends infer Of ? (Of extends string ? `no_such_${Of}` : never) : never>
  | RefusedUnlessNever<FieldsWith<Described, { is: 'id' }> extends never ? never : 'exists'>;
type RefusedUnlessNever<Why> = [Why] extends [never] ? never : Refused<Why & string>;
/** The collections that the description refers to. */
type ParentsOf<Described extends AnyDescription> = ColumnsOf<Described>[keyof ColumnsOf<Described>] extends infer Column
  ? Column extends { of: infer Of }
    ? Of
    : never
  : never;

/** All columns of the rows, by field. */
type ColumnsOf<Described extends AnyDescription> = Described['columns'] &
  ([InternalOf<Described>] extends [never] ? unknown : InternalOf<Described>);
type InternalOf<Described> = Described extends { internal: infer Internal extends object } ? Internal : never;

/** A record as clients see it. */
type ShownOf<Described extends AnyDescription> = Described extends { schema: infer Name extends string }
  ? SchemaOf<Name>
  : FreeFields<Described['columns']>;
/** A record with its internal columns. As part of a reply it has the type that clients see. */
export type RowOf<Described extends AnyDescription> = [InternalOf<Described>] extends [never]
  ? ShownOf<Described>
  : FieldsOf<Described> & Whole<ShownOf<Described>>;
type FieldsOf<Described extends AnyDescription> = [InternalOf<Described>] extends [never]
  ? ShownOf<Described>
  : Flat<ShownOf<Described> & FreeFields<InternalOf<Described>>>;
type FreeFields<Columns> = Flat<
  { [Name in keyof Columns as Columns[Name] extends { isOptional: true } ? never : Name]: FreeValue<Columns[Name]> } & {
    [Name in keyof Columns as Columns[Name] extends { isOptional: true } ? Name : never]?: FreeValue<Columns[Name]>;
  }
>;
type FreeValue<Column> =
  | (Column extends { schema: infer Name extends string }
      ? SchemaOf<Name>
      : Column extends { type: infer Type extends ColumnType }
        ? ColumnValues[Type]
        : never)
  | (Column extends { isNullable: true } ? null : never);

type IdOf<Described extends AnyDescription> = ValuesOf<Described, { set: 'id' } | { is: 'id' }>;
type ValuesOf<Described extends AnyDescription, Trait> =
  FieldsOf<Described> extends infer Found ? Found[FieldsWith<Described, Trait> & keyof Found] : never;

/**
 * The type of a new record: all fields but those that the store sets; fields with a first value are optional.
 */
export type NewOf<Described extends AnyDescription> =
  FieldsOf<Described> extends infer Found
    ? Flat<
        Omit<Found, FieldsWith<Described, { set: string }> | FieldsWith<Described, { first: unknown }>> &
          Partial<Pick<Found, FieldsWith<Described, { first: unknown }> & keyof Found>> & {
            [Name in FieldsWith<Described, { set: string }> & keyof Found]?: never;
          }
      >
    : never;
type FieldsWith<Described extends AnyDescription, Trait> = {
  [Name in keyof ColumnsOf<Described>]: ColumnsOf<Described>[Name] extends Trait ? Name : never;
}[keyof ColumnsOf<Described>];
type Flat<T> = { [Key in keyof T]: T[Key] };

/** The type of records whose schema is not in the contract: after a contract was replaced, the old domain compiles, but is unusable. */
declare const absent: unique symbol;
interface NotInTheContract {
  readonly [absent]: true;
}
type Schemas = components extends { schemas: infer All } ? All : never;
type SchemaName = [Schemas] extends [never] ? string : keyof Schemas & string;
export type SchemaOf<Name extends string> = [Schemas] extends [never]
  ? NotInTheContract
  : Name extends keyof Schemas
    ? Unmarked<Schemas[Name]>
    : NotInTheContract;
type ErrorCode = SchemaOf<'Error'> extends { code: infer Code extends string } ? Code : string;

type FilterName<Found> = Found extends NotInTheContract
  ? string
  : { [Name in keyof Found]-?: Exclude<Found[Name], null | undefined> extends Scalar ? Name : never }[keyof Found] &
      string;
type Scalar = bigint | string | number | boolean;

/** A column for every field of the schema. If the schema allows additional fields, nothing compiles. */
type Columns<Found> = Found extends NotInTheContract
  ? Record<string, Column>
  : string extends keyof Found
    ? never
    : { [Name in keyof Found]-?: ColumnFor<Found, Name> };
type ColumnFor<Found, Name extends keyof Found> = { column?: string; type: TypeOf<Found[Name]> } & Pick<
  Column,
  'of' | 'onDelete' | 'ignoresCase'
> &
  SetOf<Found[Name]> &
  OptionalOf<Found[Name]> &
  NullableOf<Found[Name]>;
/** The values of `set`, `is` and `first` that a field of this type may have. */
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
  ? 'json' | JsonSince<'the field may be absent and may be null'>
  : ScalarTypeOf<Exclude<Value, null | undefined>>;
type ScalarTypeOf<Value> = [Value] extends [bigint]
  ? 'int64'
  : [Value] extends [string]
    ? 'text' | 'uuid' | 'time' | 'json'
    : [Value] extends [number]
      ? 'int32' | 'number'
      : [Value] extends [boolean]
        ? 'boolean'
        : 'json' | JsonSince<'the field is an object, a list, or of several types'>;
/** Appears in the compiler's message, with the reason. No column has this type. */
interface JsonSince<Reason extends string> {
  readonly reason: Reason;
}
