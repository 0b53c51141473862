/**
 * The types of a description: a domain's collections, as data. The store derives statements, caches, cursors and moves from it. The
 * compiler checks it against the contract: a field without a column, or with a column of another type, is a compile error.
 */
import type { Unmarked } from '../../json/marked.ts';
import type { Whole } from '../../json/whole-records.ts';
import type { components, operations } from '../../registered.ts';
import type { AllQuery, Changing, Collection, NoOther, PageOf, PageQuery, Refused, SqlSteps } from '../collection.ts';

/**
 * The type of a column. `int64` is a bigint, and `int32` is an integer as a number. A `number` is stored with every digit. A `time` is an
 * instant, stored in UTC to the millisecond. `json` is for everything else, stored as JSON text. The page guide/records.md lists the SQL
 * types of both databases.
 */
export type ColumnType = 'int64' | 'int32' | 'number' | 'boolean' | 'text' | 'uuid' | 'time' | 'json';

export interface Column {
  /** The name of the column; by default, the field's name in snake case. */
  column?: string;
  type: ColumnType;
  /** The field may be absent. NULL in the column means absent. */
  isOptional?: true;
  /** The field may be null. NULL in the column means null. If a field may be absent or null, its type is `json`, and its null is a text. */
  isNullable?: true;
  /**
   * The store sets the field: the id, the time of the create or of the last change, a revision that each change increments, or the
   * tenant. A revision is never used again for the same id, even after the record was deleted. With a tenant, handlers call
   * `orders.of(tenant)`, which neither sees nor changes records of other tenants.
   */
  set?: 'id' | 'created' | 'changed' | 'revision' | 'tenant';
  /** The field is the id, chosen by the creator of the record. */
  is?: 'id';
  /** The field's value in a record that is created without it. */
  first?: unknown;
  /** Comparisons, orders and unique indexes ignore the case of the letters a to z. The case of other letters counts. */
  ignoresCase?: true;
  /** The field contains the id of a record of this collection, and its column is a foreign key. */
  of?: string;
  /** The record is deleted with the record that it refers to. Without this, deleting that record is the refusal `referenced`. */
  onDelete?: 'delete';
}

/** A column without a field in the contract. */
type FreeColumn = { [Type in ColumnType]: FreeColumnOf<Type> }[ColumnType];
interface FreeColumnOf<Type extends ColumnType> extends Omit<Column, 'set' | 'first'> {
  type: Type;
  set?: Type extends keyof FreeSets ? FreeSets[Type] : never;
  first?: ColumnValues[Type] | null;
  /** The schema of the contract that values must fit. By default, only the column's type restricts the values. */
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
 * The description of a collection. The records have the contract's schema `Name`, and internal columns with the names `Internal`. Without a
 * schema, the columns alone describe the records.
 */
export type Description<Name extends string = never, Internal extends string = never> = [Name] extends [never]
  ? Described<string> & { schema?: never; columns: Readonly<Record<string, FreeColumn>>; internal?: never }
  : Described<FilterName<SchemaOf<Name>> | Internal> & {
      /**
       * The schema of the records that clients see: a schema of the contract by its name, or the success of an operation, as `getBook()`.
       * `getBook().data` is a field of it.
       */
      schema: Name;
      /** A column for each field of the schema. */
      columns: Columns<SchemaOf<Name>>;
    } & InternalColumns<SchemaOf<Name>, Internal>;

/** The columns that are in every row, but that clients do not see. */
type InternalColumns<Found, Internal extends string> = [Internal] extends [never]
  ? { internal?: never }
  : { internal: { [Name in Internal]: Name extends keyof Found ? never : FreeColumn & { is?: never } } };

/** The parts of a description that name fields. */
interface Described<Filter extends string> {
  /** The word for one record, such as `book`. */
  noun: string;
  table: string;
  /** The ways to list records. The texts in an index may have 2,600 bytes together; a request with longer ones is a 400. */
  lists?: {
    /**
     * The fields that lists can be filtered by. If a query contains several filters, all must match. A field needs an index on (column,
     * id); PostgreSQL uses the index of the first filter in a query. Add new fields at the end: then the cursors of clients stay valid.
     */
    equal?: readonly Filter[];
    /** The fields that can be filtered by a range: `{ from, above, below, upTo }`. */
    range?: readonly Filter[];
    /** The texts that can be filtered by their beginning: `nameBegins` for `name`. */
    prefix?: readonly Filter[];
    /**
     * The filters that every query must contain, such as the account of entries. In the indexes, the columns of these fields come first.
     */
    always?: readonly Filter[];
    /**
     * The orders by their names: a field or several, each with `-` for descending. Records without a value come last. Records with equal
     * values are sorted by id.
     */
    orders?: Readonly<Record<string, OrderBy<Filter> | readonly OrderBy<Filter>[]>>;
    /** The most records that `skip` may leave out, for contracts that page by number. More is a 400: far pages are slow. */
    skip?: number;
    /** Whether lists can count all their records. The more records there are, the longer that takes. */
    count?: true;
  };
  /**
   * A record or change that breaks its schema is a 400 of the request, and methods take values of wider types: any text in place of a
   * listed one, objects that lack fields, and null. Without this it is a 500, and a body that allows such values is a build error.
   */
  unfit?: 400;
  /** Sets of fields that are unique: the table needs a unique index on them. A second record with these values is refused with the code. */
  unique?: readonly { fields: readonly Filter[]; code: ErrorCode }[];
  /** The errors that the collection adds to the catalogue, by code. */
  errors: { readonly [Code in ErrorCode]?: { readonly status: number; readonly message?: string } };
  /** The folder of the migrations, which contains the folders `sqlite` and `postgres`. */
  migrations: URL;
}

type OrderBy<Filter extends string> = Filter | `-${Filter}`;

/** The description of any collection, for code that is independent of the contract's types. */
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

/** The descriptions by the names that handlers use for the collections. `npm run generate` writes them. */
export type AnyDomain = Readonly<Record<string, AnyDescription>>;

/** The collections of a domain, with their transactions as methods, for handlers. */
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
      GivenOf<Described>,
      Described['lists'],
      IdOf<Described>,
      ConflictsOf<Described>,
      Referenced,
      ShownOf<Described>,
      CausesOf<Described>
    >,
    Impossible<Described>
  > &
    Calls
>;
type OfTenant<Tenant, All> = [Tenant] extends [never] ? All : { of(tenant: Tenant): All };
/** The type of the tenant; `never` if the collection has no tenants. */
export type TenantOf<Described extends AnyDescription> = ValuesOf<Described, { set: 'tenant' }>;
/** A collection in a transaction. Reads see the transaction's own changes. */
export type CollectionInTransaction<Described extends AnyDescription, Referenced = never> = Omit<
  Changing<
    RowOf<Described>,
    GivenOf<Described>,
    IdOf<Described>,
    ConflictsOf<Described>,
    Referenced,
    'steps',
    CausesOf<Described>
  >,
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
/** The methods that a collection lacks: `put` works only with ids that clients choose. */
type Impossible<Described extends AnyDescription> = FieldsWith<Described, { is: 'id' }> extends never ? 'put' : never;
/** The refusal of a delete; `never` if no collection refers to this one. */
export type Referenced<Domain extends AnyDomain, Name> = {
  [Child in keyof Domain]: {
    [Field in keyof ColumnsOf<Domain[Child]>]: ColumnsOf<Domain[Child]>[Field] extends { of: Name }
      ? ColumnsOf<Domain[Child]>[Field] extends { onDelete: 'delete' }
        ? Referenced<Domain, Child>
        : Refused<'referenced'>
      : never;
  }[keyof ColumnsOf<Domain[Child]>];
}[keyof Domain];

/** The refusals of a new record that conflicts with existing ones; `never` if it cannot conflict. */
type ConflictsOf<Described extends AnyDescription> =
  | RefusedUnlessNever<Described['unique'] extends readonly { code: infer Code extends string }[] ? Code : never>
  | RefusedUnlessNever<ParentsOf<Described> extends infer Of ? (Of extends string ? `no_such_${Of}` : never) : never>
  | RefusedUnlessNever<FieldsWith<Described, { is: 'id' }> extends never ? never : 'exists'>;
/** The fields that can cause each conflict, by its code: a change of other fields is not refused with it. */
type CausesOf<Described extends AnyDescription> = {
  [One in UniqueOf<Described> as One['code']]: One['fields'][number];
} & {
  [Name in keyof ColumnsOf<Described> as ColumnsOf<Described>[Name] extends { of: infer Of extends string }
    ? `no_such_${Of}`
    : never]: Name;
} & { exists: FieldsWith<Described, { is: 'id' }> };
type UniqueOf<Described extends AnyDescription> = Described['unique'] extends readonly (infer One extends {
  fields: readonly string[];
  code: string;
})[]
  ? One
  : never;
type RefusedUnlessNever<Why> = [Why] extends [never] ? never : Refused<Why & string>;
/** The collections that the description refers to. */
type ParentsOf<Described extends AnyDescription> = ColumnsOf<Described>[keyof ColumnsOf<Described>] extends infer Column
  ? Column extends { of: infer Of }
    ? Of
    : never
  : never;

/** The columns of the rows, by field. */
type ColumnsOf<Described extends AnyDescription> = Described['columns'] &
  ([InternalOf<Described>] extends [never] ? unknown : InternalOf<Described>);
type InternalOf<Described> = Described extends { internal: infer Internal extends object } ? Internal : never;

/** A record as clients see it. */
type ShownOf<Described extends AnyDescription> = Described extends { schema: infer Name extends string }
  ? SchemaOf<Name>
  : FreeFields<Described['columns']>;
/** A record with its internal columns. A reply may contain it: there it has the type that clients see. */
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
 * The type of a new record: all fields except those that the store sets. A field with a value for new records (`first`) is optional.
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
/** The type of a given record. With `unfit: 400`, its values may be wider: the store refuses those that break the schema. */
type GivenOf<Described extends AnyDescription> = Described extends { unfit: 400 }
  ? Wider<NewOf<Described>>
  : NewOf<Described>;
type Wider<Fields> = {
  [Name in keyof Fields]: [Fields[Name]] extends [undefined] ? Fields[Name] : WiderValue<Fields[Name]>;
};
/** Any text in place of a listed one, objects that lack fields, and null. */
type WiderValue<Value> = unknown extends Value
  ? Value
  :
      | null
      | (Value extends string
          ? string
          : Value extends number
            ? number
            : Value extends boolean
              ? boolean
              : Value extends readonly (infer Item)[]
                ? readonly WiderValue<Item>[]
                : Value extends object
                  ? { [Name in keyof Value]?: WiderValue<Value[Name]> }
                  : Value);
type FieldsWith<Described extends AnyDescription, Trait> = {
  [Name in keyof ColumnsOf<Described>]: ColumnsOf<Described>[Name] extends Trait ? Name : never;
}[keyof ColumnsOf<Described>];
type Flat<T> = { [Key in keyof T]: T[Key] };

/** The type of records if their schema is not in the contract: after a contract was replaced, the old domain compiles, but is unusable. */
declare const absent: unique symbol;
interface NotInTheContract {
  readonly [absent]: true;
}
type Schemas = components extends { schemas: infer All } ? All : never;
type SchemaName = [Schemas] extends [never] ? string : keyof Schemas & string;
export type SchemaOf<Name extends string> = Name extends `${infer Id extends keyof operations & string}()${infer Path}`
  ? Unmarked<FieldAt<SuccessOf<operations[Id]>, Path>>
  : [Schemas] extends [never]
    ? NotInTheContract
    : Name extends keyof Schemas
      ? Unmarked<Schemas[Name]>
      : NotInTheContract;
type SuccessOf<Operation> = Operation extends { responses: infer Replies }
  ? JsonOf<Replies[keyof Replies & (200 | 201 | 202 | 203)]>
  : never;
type JsonOf<Reply> = Reply extends { content: infer Content }
  ? Content[keyof Content & `${string}json${string}`]
  : never;
type FieldAt<Found, Path extends string> = Path extends `.${infer Name}.${infer More}`
  ? FieldAt<FieldAt<Found, `.${Name}`>, `.${More}`>
  : Path extends `.${infer Name}`
    ? Name extends keyof Found
      ? NonNullable<Found[Name]>
      : NotInTheContract
    : Found;
type ErrorCode = SchemaOf<'Error'> extends { code: infer Code extends string } ? Code : string;

type FilterName<Found> = Found extends NotInTheContract
  ? string
  : { [Name in keyof Found]-?: Exclude<Found[Name], null | undefined> extends Scalar ? Name : never }[keyof Found] &
      string;
type Scalar = bigint | string | number | boolean;

/** A column for every field of the schema. If the schema allows additional fields, every description is a compile error. */
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
/** The possible values of `set`, `is` and `first` for a field of this type. */
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
/** A type that is only for the compiler's message, which shows the reason. No column has it. */
interface JsonSince<Reason extends string> {
  readonly reason: Reason;
}
