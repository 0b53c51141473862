/**
 * The types of a description: a domain's collections as data. From the description, the store derives SQL statements,
 * caches, cursors and moves. The compiler compares the description with the contract: a field without a column, or with
 * a column of a wrong type, is a compile error.
 */
import type { Unmarked } from '../../json/marked.ts';
import type { Whole } from '../../json/whole-records.ts';
import type { components, operations } from '../../registered.ts';
import type { AllQuery, Changing, Collection, NoOther, PageOf, PageQuery, Refused, SqlSteps } from '../collection.ts';

/**
 * The type of a column. An `int64` is a bigint, and an `int32` is a number without a fraction. A `number` is stored
 * with every digit. A `time` is an instant, stored in UTC with milliseconds. Other values, such as objects and lists,
 * use the type `json` and are stored as JSON text. The page guide/records.md lists the SQL types in both databases.
 */
export type ColumnType = 'int64' | 'int32' | 'number' | 'boolean' | 'text' | 'uuid' | 'time' | 'json';

export interface Column {
  /** The name of the column. The default is the name of the field in snake case. */
  column?: string;
  type: ColumnType;
  /** The field may be absent. NULL in the column means absent. */
  isOptional?: true;
  /**
   * The field may be null. NULL in the column means null. A field that may be absent and may also be null needs the
   * type `json`: then null is stored as the text `null`.
   */
  isNullable?: true;
  /**
   * The store sets the field to the id, to the time when the record was created or last changed, to a revision that
   * each change increments, or to the tenant. A revision is never reused for the same id, even after the record was
   * deleted. For a collection with a tenant field, handlers must call, for example, `orders.of(tenant)`, and then
   * neither see nor change records of other tenants.
   */
  set?: 'id' | 'created' | 'changed' | 'revision' | 'tenant';
  /** The field is the id, which the creator of the record chooses. */
  is?: 'id';
  /** The value of the field in a new record, if `create` gets none. */
  first?: unknown;
  /** Comparisons, orders and unique indexes ignore the case of the letters a to z. The case of other letters counts. */
  ignoresCase?: true;
  /** The field contains the id of a record of the collection with this name, and its column is a foreign key. */
  of?: string;
  /**
   * Set this to `delete` if this record must be deleted together with the record that the field refers to. Without
   * `onDelete`, the store refuses the deletion of the other record, with the code `referenced`.
   */
  onDelete?: 'delete';
}

/** A column that does not belong to a field of the contract. */
type FreeColumn = { [Type in ColumnType]: FreeColumnOf<Type> }[ColumnType];
interface FreeColumnOf<Type extends ColumnType> extends Omit<Column, 'set' | 'first'> {
  type: Type;
  set?: Type extends keyof FreeSets ? FreeSets[Type] : never;
  first?: ColumnValues[Type] | null;
  /**
   * The name of a schema in the contract, which the values must fit. Without a schema, only the type of the column
   * restricts the values.
   */
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
 * The description of a collection with records of the schema `Name` of the contract, plus the internal columns
 * `Internal`. Without a schema, only the columns describe the records.
 */
export type Description<Name extends string = never, Internal extends string = never> = [Name] extends [never]
  ? Described<string> & { schema?: never; columns: Readonly<Record<string, FreeColumn>>; internal?: never }
  : Described<FilterName<SchemaOf<Name>> | Internal> & {
      /**
       * The schema of the records that clients see: either the name of a schema in the contract, or a reference to the
       * body of an operation's successful reply. `getBook()` means the whole body, and `getBook().data` a field of the
       * body.
       */
      schema: Name;
      /** A column for each field of the schema. */
      columns: Columns<SchemaOf<Name>>;
    } & InternalColumns<SchemaOf<Name>, Internal>;

/** The columns that every row has and that no client sees. */
type InternalColumns<Found, Internal extends string> = [Internal] extends [never]
  ? { internal?: never }
  : { internal: { [Name in Internal]: Name extends keyof Found ? never : FreeColumn } };

/** The properties of a description that refer to fields by name. */
interface Described<Filter extends string> {
  /** The word for one record, such as `book`. */
  noun: string;
  table: string;
  /**
   * How records can be listed. The texts in one row of an index may together take up to 2,600 bytes. A request with
   * longer texts is answered with 400.
   */
  lists?: {
    /**
     * The fields that can filter lists. If a query filters by several fields, a record must match all of them. Every
     * field needs an index on (column, id); PostgreSQL uses the index of the first filter in a query. Add new fields at
     * the end, so that the cursors of clients stay valid.
     */
    equal?: readonly Filter[];
    /** The fields that can be filtered by a range: `{ from, above, below, upTo }`. */
    range?: readonly Filter[];
    /**
     * The text fields that can be filtered by the beginning of their text: a query filters `name` with `nameBegins`.
     */
    prefix?: readonly Filter[];
    /**
     * The fields that every query must filter by, for example the account if each record is an entry of an account. In
     * the indexes, the columns of these fields come first.
     */
    always?: readonly Filter[];
    /**
     * The sort orders of lists, by name. An order is one field or several; `-` before a field means descending. Records
     * without a value come last. Records with equal values are sorted by the order of their creation, in the direction
     * of the last field.
     */
    orders?: Readonly<Record<string, OrderBy<Filter> | readonly OrderBy<Filter>[]>>;
    /**
     * The most records that a query may skip, for contracts with page numbers. A query that skips more is answered with
     * 400. The limit is needed because the database has to read all the records that a query skips.
     */
    skip?: number;
    /**
     * Whether queries may ask for the total number of records. The more records there are, the longer a count takes.
     */
    count?: true;
  };
  /**
   * If `unfit` is set, a record or change that breaks its schema counts as an error of the request and is answered with
   * 400. Methods then accept wider types: any text instead of the texts of an enum, objects with missing fields, and
   * null. Without `unfit`, the answer is 500, and it is a build error if a request's body may contain values that do
   * not fit.
   */
  unfit?: 400;
  /**
   * Sets of fields that are unique: the table needs a unique index on each set. If another record already contains the
   * same values, the store refuses a change with this code.
   */
  unique?: readonly { fields: readonly Filter[]; code: ErrorCode }[];
  /** The errors that this collection adds to the service's catalogue of errors, by code. */
  errors: { readonly [Code in ErrorCode]?: { readonly status: number; readonly message?: string } };
  /** The URL of the folder of the migrations, which contains the folders `sqlite` and `postgres`. */
  migrations: URL;
}

type OrderBy<Filter extends string> = Filter | `-${Filter}`;

/** The type of all descriptions, for code that does not depend on the types of a contract. */
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

/**
 * The descriptions of a domain's collections. The keys are the names of the collections in handlers. `npm run generate`
 * writes this object.
 */
export type AnyDomain = Readonly<Record<string, AnyDescription>>;

/** The type of the collections that handlers get. The domain's transactions are also methods of every collection. */
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
/** The type of the tenant's value; `never` for a collection without tenants. */
export type TenantOf<Described extends AnyDescription> = ValuesOf<Described, { set: 'tenant' }>;
/** A collection as a transaction sees it. Reads return the changes that the transaction has already made. */
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
/** The methods that this collection does not have: `put` exists only if clients choose the ids. */
type Impossible<Described extends AnyDescription> = FieldsWith<Described, { is: 'id' }> extends never ? 'put' : never;
/**
 * The refusal that a delete may return: `referenced` if another collection's records may refer to the deleted record.
 * Otherwise `never`.
 */
export type Referenced<Domain extends AnyDomain, Name> = {
  [Child in keyof Domain]: {
    [Field in keyof ColumnsOf<Domain[Child]>]: ColumnsOf<Domain[Child]>[Field] extends { of: Name }
      ? ColumnsOf<Domain[Child]>[Field] extends { onDelete: 'delete' }
        ? Referenced<Domain, Child>
        : Refused<'referenced'>
      : never;
  }[keyof ColumnsOf<Domain[Child]>];
}[keyof Domain];

/**
 * The refusals of a create or update that conflicts with other records: unique values that already exist, or a
 * reference to a missing record. `never` if no conflict is possible.
 */
type ConflictsOf<Described extends AnyDescription> =
  | RefusedUnlessNever<Described['unique'] extends readonly { code: infer Code extends string }[] ? Code : never>
  | RefusedUnlessNever<ParentsOf<Described> extends infer Of ? (Of extends string ? `no_such_${Of}` : never) : never>
  | RefusedUnlessNever<FieldsWith<Described, { is: 'id' }> extends never ? never : 'exists'>;
/**
 * Maps the code of each conflict to the fields that can cause this conflict. An update that changes none of these
 * fields cannot return this refusal.
 */
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
/** The names of the collections that this description refers to. */
type ParentsOf<Described extends AnyDescription> = ColumnsOf<Described>[keyof ColumnsOf<Described>] extends infer Column
  ? Column extends { of: infer Of }
    ? Of
    : never
  : never;

/** The columns of a row, including the internal ones, by the name of the field. */
type ColumnsOf<Described extends AnyDescription> = Described['columns'] &
  ([InternalOf<Described>] extends [never] ? unknown : InternalOf<Described>);
type InternalOf<Described> = Described extends { internal: infer Internal extends object } ? Internal : never;

/** A record as clients see it. */
type ShownOf<Described extends AnyDescription> = Described extends { schema: infer Name extends string }
  ? SchemaOf<Name>
  : FreeFields<Described['columns']>;
/** A record with its internal columns. A handler may return such a record: the reply leaves these columns out. */
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

/** The type of a new record, with all fields except those that the store sets. Fields with `first` are optional. */
export type NewOf<Described extends AnyDescription> =
  FieldsOf<Described> extends infer Found
    ? Flat<
        Omit<Found, FieldsWith<Described, { set: string }> | FieldsWith<Described, { first: unknown }>> &
          Partial<Pick<Found, FieldsWith<Described, { first: unknown }> & keyof Found>> & {
            [Name in FieldsWith<Described, { set: string }> & keyof Found]?: never;
          }
      >
    : never;
/**
 * The type of a record that a handler passes to the store. With `unfit: 400`, the type is wider: the store checks the
 * values itself, and values that do not fit are answered with 400.
 */
type GivenOf<Described extends AnyDescription> = Described extends { unfit: 400 }
  ? Wider<NewOf<Described>>
  : NewOf<Described>;
type Wider<Fields> = {
  [Name in keyof Fields]: [Fields[Name]] extends [undefined] ? Fields[Name] : WiderValue<Fields[Name]>;
};
/**
 * The type of a value with `unfit: 400`. In addition to the contract's values, it allows any text in place of an enum's
 * texts, objects with missing fields, and null.
 */
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

/**
 * The type of records if their schema is missing from the contract. With this type, an old domain still compiles after
 * its contract was replaced, but its records cannot be used.
 */
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

/**
 * The type of `columns`: a column for each field of the schema. If the schema allows additional fields, this is
 * `never`, so that every description is a compile error.
 */
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
  OptionalOf<Found, Name> &
  NullableOf<Found[Name]>;
/** The values of `set`, `is` and `first` that are possible for a field of this type. */
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
type OptionalOf<Found, Name extends keyof Found> =
  IsOptional<Found, Name> extends true ? { isOptional: true } : { isOptional?: never };
/** True if the field may be absent. A field with any value is only optional if it is declared so. */
type IsOptional<Found, Name extends keyof Found> = unknown extends Found[Name]
  ? Record<never, never> extends Pick<Found, Name>
    ? true
    : false
  : undefined extends Found[Name]
    ? true
    : false;
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
/** A type that no column has, to show the reason for a compile error in the compiler's message. */
interface JsonSince<Reason extends string> {
  readonly reason: Reason;
}
