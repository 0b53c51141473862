/** The table of a collection, for both databases. A table is plain data, so that it can be sent to a thread. */
import { stringify } from 'lossless-json';
import { toSqlLiteral } from '../../json/literals.ts';
import type { AnyColumn, AnyDescription, AnyDomain, Column, ColumnType, Lists } from './description.ts';

export interface Field extends Readonly<Column> {
  name: string;
  column: string;
  /** Whether the field is hidden from clients. */
  isInternal?: true;
}

export interface Table {
  /** The name of the collection that keeps its records in the table. */
  collection: string;
  name: string;
  /** The word for one record, such as `order`. */
  noun: string;
  /** Whether a record that breaks its schema is answered with 400, as an error of the request. */
  isUnfitInvalid: boolean;
  /** The fields, in the order of the JSON. */
  fields: Field[];
  /** The names of the internal fields, which clients do not see. */
  internal: string[];
  /** The fields that an INSERT writes. The sequence number is not among them, because the database assigns it. */
  newFields: Field[];
  /** The fields that can filter lists: first the tenant, then the fields of `always`, then the fields of `equal`. */
  filters: Field[];
  /** How many of `filters`, counted from the first, every query must contain. */
  fixed: number;
  ranges: Field[];
  prefixes: Field[];
  orders: Record<string, OrderKey[]>;
  /** The most records that a query may skip. */
  mostSkipped: number;
  /** Whether a query may ask for the total number of records. */
  counts: boolean;
  /** The field with the id, which handlers use to find a record. */
  id: Field;
  /**
   * The column with the sequence number, which sorts pages: the id if the store sets an int64 id, and otherwise `seq`,
   * which clients do not see.
   */
  sequence: string;
  /** The field with the tenant. If there is one, other columns are unique only within each tenant. */
  tenant: Field | undefined;
  /** The unique columns that identify a record: the id, after the tenant if there is one. */
  key: string[];
  /**
   * The other sets of unique columns. If a record's values in such a set already exist, the record is refused with the
   * `code` of the set.
   */
  unique: { columns: string[]; code: string }[];
  relations: Relation[];
}

/** A field that an order sorts by. The last field of each order contains a different value in every record. */
export interface OrderKey {
  field: Field;
  isDown: boolean;
}

/** A foreign key: the field contains the id of a record of the collection `parent`. */
export interface Relation {
  field: Field;
  /**
   * The columns of the foreign key. In collections with tenants, they include the tenant's column, so that a record
   * cannot refer to another tenant's record.
   */
  columns: string[];
  parent: Pick<Table, 'collection' | 'name' | 'id' | 'tenant'>;
}

/** The name of the sequence column. Tables have it if clients choose the ids, or if the ids are not int64. */
const SEQUENCE = 'seq';

/** Matches names that SQL can contain without quotes. */
const UNQUOTED_NAME = /^[a-z_][a-z0-9_]*$/;

/**
 * Makes the tables of a domain, every table after the tables that it refers to.
 * @throws Error if a description refers to an unknown collection, or if references form a cycle
 */
export function toTables(domain: AnyDomain): Table[] {
  const tables = new Map<string, Table>();
  function add(collection: string, way: readonly string[]): Table {
    const known = tables.get(collection);
    if (known) return known;
    const description = domain[collection];
    if (!description || way.includes(collection))
      throw new Error(`${way.at(-1)} refers to ${collection}, which is unknown, or refers back to it`);
    const table = toTable(description, collection);
    for (const field of table.fields.filter(({ of }) => of !== undefined)) {
      const { name, id, tenant } = add(field.of as string, [...way, collection]);
      if (tenant && !table.tenant)
        throw new Error(`${collection} refers to ${field.of}, which has tenants, so it needs a tenant itself`);
      const columns = [...(tenant ? [(table.tenant as Field).column] : []), field.column];
      table.relations.push({ field, columns, parent: { collection: field.of as string, name, id, tenant } });
    }
    tables.set(collection, table);
    return table;
  }
  for (const collection of Object.keys(domain)) add(collection, []);
  return [...tables.values()];
}

/** Returns the column with the revision; undefined if the table has none. */
export const revisionOf = ({ fields }: Table) => fields.find(({ set }) => set === 'revision')?.column;

/** Whether creating a record can never conflict with other records. */
export const isFree = ({ id, unique, relations }: Table) =>
  id.is === undefined && unique.length + relations.length === 0;

/** Returns the fields that clients see, without the internal ones. */
export const shownOf = (fields: readonly Field[]) => fields.filter(({ isInternal }) => !isInternal);

/** Returns the default name of a field's column, such as `placed_at` for `placedAt`. */
const toColumnName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function toFields({ table, columns, internal = {} }: AnyDescription): Field[] {
  const toField = ([name, column]: [string, AnyColumn]): Field => ({ column: toColumnName(name), ...column, name });
  const hidden = Object.entries(internal).map((entry): Field => ({ ...toField(entry), isInternal: true }));
  const both = hidden.find(({ name }) => name in columns);
  if (both) throw new Error(`the internal column ${table}.${both.column} is named like a field of the schema`);
  return [...Object.entries(columns).map(toField), ...hidden];
}

/** Makes the table of a description. @throws Error if the description contains a mistake */
export function toTable(description: AnyDescription, collection = description.table): Table {
  const { table, noun, unfit, lists = {} } = description;
  const fields = toFields(description);
  const odd = [table, ...fields.map(({ column }) => column)].filter((name) => !UNQUOTED_NAME.test(name));
  if (odd.length > 0) throw new Error(`tables and columns are named in small letters, digits and _, not ${odd}`);
  const [id, ...others] = fields.filter(({ set, is }) => set === 'id' || is === 'id');
  const strict = fields.find(
    ({ ignoresCase, type, set, is, of }) => ignoresCase && (type !== 'text' || set || is || of),
  );
  if (strict) throw new Error(`${table}.${strict.column} cannot ignore case: it is an id, or not a text`);
  const alone = fields.find(({ of, onDelete }) => onDelete && of === undefined);
  if (alone) throw new Error(`${table}.${alone.column} has \`onDelete\`, but does not refer to a collection`);
  if (!id || others.length > 0) throw new Error(`one column of ${table} has \`set: 'id'\` or \`is: 'id'\``);
  if (id.set === 'id' && id.type !== 'int64' && !isText(id.type))
    throw new Error(
      `the store cannot set the id of ${table}, which is ${id.type}: make it a string in the contract, or add \`format: int64\``,
    );
  const isSequence = id.set === 'id' && id.type === 'int64';
  const newFields = isSequence ? fields.filter((field) => field !== id) : fields;
  const tenant = fields.find(({ set }) => set === 'tenant');
  const find = (name: string) => {
    const field = fields.find((one) => one.name === name);
    if (!field) throw new Error(`${table} has no column for ${name}, which its lists or unique fields name`);
    return field;
  };
  const toKey = (all: string[]) => [...(tenant ? [tenant.column] : []), ...all];
  const sequence = isSequence ? id.column : SEQUENCE;
  const always = [...(tenant ? [tenant.name] : []), ...(lists.always ?? [])];
  const last = isSequence ? id : toSequence(sequence);
  const asked = toLists(find, { ...lists, always }, [id, last]);
  const unique = (description.unique ?? []).map(({ fields: names, code }) => ({
    columns: toKey(names.map((name) => find(name).column)),
    code,
  }));
  const key = toKey([id.column]);
  const internal = fields.flatMap(({ name, isInternal }) => (isInternal ? name : []));
  const named = { collection, name: table, noun, isUnfitInvalid: unfit === 400 };
  const own = { ...named, fields, internal, newFields, id, tenant, key, sequence, unique };
  return { ...own, ...asked, relations: [] };
}

function toLists(
  find: (name: string) => Field,
  { always = [], equal = [], range = [], prefix = [], orders = {}, skip = 0, count }: Lists,
  [id, last]: [id: Field, last: Field],
) {
  const toOrder = (by: string | readonly string[]): OrderKey[] => {
    const keys = [by].flat().map((one) => ({ field: find(one.replace(/^-/, '')), isDown: one.startsWith('-') }));
    const end = keys.findIndex(({ field }) => field === id);
    return end < 0 ? [...keys, { field: last, isDown: keys.at(-1)?.isDown === true }] : keys.slice(0, end + 1);
  };
  const sorted = Object.entries(orders).map(([name, by]): [string, OrderKey[]] => [name, toOrder(by)]);
  const names = [...new Set([...always, ...equal])];
  const [filters, ranges, prefixes] = [names.map(find), range.map(find), prefix.map(find)];
  const unfit = [...filters, ...ranges].find(({ type }) => type === 'json');
  if (unfit) throw new Error(`lists cannot be filtered by ${unfit.name}, which is stored as JSON`);
  const unsorted = sorted.flatMap(([, keys]) => keys).find(({ field: { type } }) => /^(json|boolean)$/.test(type));
  if (unsorted) throw new Error(`lists cannot be ordered by ${unsorted.field.name}, which is not a number or a text`);
  return {
    filters,
    fixed: always.length,
    ranges,
    prefixes,
    orders: Object.fromEntries(sorted),
    mostSkipped: skip,
    counts: count === true,
  };
}

/** Makes a field for the sequence column, which clients do not see. */
const toSequence = (column: string): Field => ({ name: column, column, type: 'int64' });

/** Returns the field with the sequence number, which is at the end of each order. */
export const sequenceOf = ({ id, sequence }: Table): Field => (id.column === sequence ? id : toSequence(sequence));

/** Whether the field may be absent or null. */
export const mayBeAbsent = ({ isOptional, isNullable }: Field) => (isOptional || isNullable) === true;

/** The differences between the databases in SQL that writes JSON. */
export interface JsonDialect {
  /** Returns SQL that writes a text column as a JSON string. If the column is NULL, the SQL returns `null` or NULL. */
  quote(column: string): string;
  /** Returns SQL that writes a column as `true` or `false`. If the column is NULL, the SQL returns NULL. */
  toBoolean(column: string): string;
  /** Returns SQL of `text`. If the column is NULL, the SQL returns '' instead. */
  unlessNull(column: string, text: string): string;
}

/** Makes a function that computes its result only once for each table. */
export function perTable<Made extends string | object>(make: (table: Table) => Made): (table: Table) => Made {
  const known = new WeakMap<Table, Made>();
  return (table) => {
    const made = known.get(table) ?? make(table);
    known.set(table, made);
    return made;
  };
}

/** Returns SQL that writes some fields of a row as JSON, as the contract describes them. Absent fields are left out. */
export function toRecordJson(fields: readonly Field[], dialect: JsonDialect): string {
  const mayBeginLater = fields[0]?.isOptional;
  const members = fields.map((field, index) => {
    const { name, column, isOptional, isNullable } = field;
    const value = toValueJson(field, dialect);
    const comma = index === 0 && !mayBeginLater ? '' : ',';
    const start = `${toSqlLiteral(`${comma}${JSON.stringify(name)}:`)} || `;
    if (isOptional) return dialect.unlessNull(column, start + value);
    return start + (isNullable ? `coalesce(${value}, 'null')` : value);
  });
  const all = members.join(' || ');
  // If the first field may be absent, every field begins with a comma. Then `substr` removes the comma of the field
  // that comes first.
  return `'{' || ${mayBeginLater ? `substr(${all}, 2)` : all} || '}'`;
}

function toValueJson({ column, type, isNullable }: Field, { quote, toBoolean }: JsonDialect): string {
  if (isText(type)) return quote(column);
  if (type === 'boolean') return toBoolean(column);
  // A number is converted to text, because PostgreSQL would otherwise read the 'null' of `coalesce` as a number.
  return isNullable ? `CAST(${column} AS text)` : column;
}

/** Puts an article before a noun for messages: `an item`, but `a user`. */
export const withArticle = (noun: string): string =>
  `${/^(?!(uni|us[aeiu]|eu|one\b))[aeiou]|^(hour|hono|heir)/i.test(noun) ? 'an' : 'a'} ${noun}`;

export const isText = (type: ColumnType) => type === 'text' || type === 'uuid' || type === 'time';

/** Writes the value of a `json` field as text, with every digit. */
export const toJsonText = (value: unknown) => stringify(value) as string;

/**
 * Returns the columns and values of a trial row, as SQL. SQLite and PostgreSQL can convert the text '1' to every column
 * type. Even if the row violates a constraint, the trial has succeeded, because the database has accepted everything
 * else.
 */
export function toTrialRow({ newFields }: Table): { columns: string[]; values: string[] } {
  return {
    columns: newFields.map(({ column }) => column),
    values: newFields.map(({ isOptional, isNullable }) => (isOptional || isNullable ? 'NULL' : "'1'")),
  };
}
