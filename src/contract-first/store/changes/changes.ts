/** Changes as plain data, which can be sent to a thread, and the statements that execute them. */
import { toMerged } from '../../json/merge-patch.ts';
import type { Fields, Idempotency, SqlSteps } from '../collection.ts';
import type { StoredTable } from '../tables/record-codec.ts';
import { type Field, perTable, type Relation, type Table } from '../tables/table.ts';
import { isStorable, toStored } from '../tables/values.ts';
import { type Dialect, Statement } from './statement.ts';

/** A create without an `Idempotency-Key`. The store inserts the records of all waiting creates with one statement. */
export interface Create {
  collection: string;
  record: Fields;
}

/** The outcome of a create: the sequence number of the record, and the time of the create. */
export interface Created {
  sequence: bigint;
  now: string;
}

/**
 * A change of one record, or a create of one or several records. With an `Idempotency-Key`, the change takes effect
 * only once.
 */
export interface Change {
  collection: string;
  /** `put` replaces the record with this id, or creates it. */
  kind: 'create' | 'update' | 'replace' | 'put' | 'delete';
  /** Undefined for creates. */
  id?: unknown;
  /** The fields to write. An update writes only these fields, and null removes an optional field. */
  record: Fields;
  /** The records of a `createAll`. Either all of them are created, or none. */
  all?: Fields[] | undefined;
  /** The tenant that the record must belong to. Undefined for a collection without tenants. */
  tenant: unknown;
  /** The amounts that an update adds to numbers, by field. */
  add: Fields;
  /** The objects that an update merges into the stored objects (RFC 7396), by field. */
  merge?: Fields;
  /** The condition: the values that the record must contain, by field. */
  if: Fields | undefined;
  idempotency: Idempotency | undefined;
}

/** A call of a transaction, with the name of the function, because a function itself cannot be sent to a thread. */
export interface TransactionCall {
  collection: string;
  call: string;
  input: unknown;
  /** The tenant that the function's records must belong to. Undefined for a collection without tenants. */
  tenant: unknown;
  idempotency: Idempotency | undefined;
}

export const isTransactionCall = (write: Create | Change | TransactionCall): write is TransactionCall =>
  'call' in write;

/** The outcome of a change. */
export interface Outcome {
  /**
   * The result as JSON: the record, the list of records, the result of a transaction, or `true` after a delete.
   * Undefined if no record was found.
   */
  text?: string | undefined;
  /** The code of the refusal, if the change was refused. */
  refused?: string;
  /** Whether this is the stored outcome of an earlier change with the same `Idempotency-Key`. */
  isReplayed?: boolean;
}

/** Builds and runs the statements of a change. */
export class ChangeRunner {
  readonly dialect: Dialect;
  /** The tables and their codecs, by the name of the collection. */
  readonly stored: ReadonlyMap<string | symbol, StoredTable>;

  constructor(dialect: Dialect, stored: readonly StoredTable[]) {
    this.dialect = dialect;
    this.stored = new Map(stored.map((one) => [one.table.collection, one]));
  }

  tableOf({ collection }: Change): Table {
    return (this.stored.get(collection) as StoredTable).table;
  }

  /**
   * Runs the statements of a change. `now` is the time that the store sets in fields; all changes of a batch share it.
   */
  *run(change: Change, now: string): SqlSteps<Outcome> {
    const { kind, id } = change;
    const table = this.tableOf(change);
    if (change.all) return yield* this.#insertAll(table, change, change.all, now);
    if (kind === 'create') return yield* this.#insert(table, change, now);
    const made = yield* this.#merge(table, change);
    if (!made) return { refused: 'unfit' };
    const text = kind === 'delete' ? yield* this.#remove(table, change) : yield* this.#edit(table, made, now);
    if (text !== undefined) return { text };
    if (change.if) return (yield* this.read(table, id, change.tenant)) === undefined ? {} : { refused: 'changed' };
    return kind === 'put' ? yield* this.#insert(table, change, now) : {};
  }

  /** Runs a SQL statement that a team has written, and returns its rows. The statement may only read. */
  *select(texts: readonly string[], values: readonly unknown[]): SqlSteps<Fields[]> {
    const sql = texts.reduce((before, text, index) => `${before}${this.dialect.mark(index)}${text}`);
    return (yield { sql, values: [...values], isReadOnly: true }) as unknown as Fields[];
  }

  *#insert(table: Table, { kind, record }: Change, now: string): SqlSteps<Outcome> {
    const values = table.newFields.map((field) => this.dialect.toValue(field, toFirst(field, record[field.name], now)));
    const [[text]] = (yield { sql: this.#toInsertSql(table), values }) as [[string]];
    return { text: kind === 'put' ? toNewText(text) : text };
  }

  readonly #toInsertSql = perTable((table) => {
    const { newFields } = table;
    const deleted = `(SELECT revision FROM ${this.#nameOf({ name: 'deleted_revisions' })} WHERE name = '${table.name}')`;
    const placeholders = newFields.map((field, index) => {
      const placeholder = this.dialect.placeholder(index + 1, field);
      // A record that is created with the id of a deleted record must not reuse the revisions of the deleted record,
      // because clients get revisions as entity tags.
      return field.set === 'revision' && table.id.is ? `${placeholder} + coalesce(${deleted}, 0)` : placeholder;
    });
    return `INSERT INTO ${this.#nameOf(table)} (${newFields.map(({ column }) => column)})
      VALUES (${placeholders}) RETURNING ${this.dialect.toJsonSql(table)}`;
  });

  *#insertAll(table: Table, change: Change, all: Fields[], now: string): SqlSteps<Outcome> {
    const texts: unknown[] = [];
    for (const record of all) texts.push((yield* this.#insert(table, { ...change, record }, now)).text);
    return { text: `[${texts}]` };
  }

  /**
   * Merges the objects of an update into the stored objects. Returns undefined if a merged object would not fit its
   * schema.
   */
  *#merge(table: Table, change: Change): SqlSteps<Change | undefined> {
    const patches = Object.entries(change.merge ?? {});
    const text = patches.length > 0 ? yield* this.read(table, change.id, change.tenant, change.if) : undefined;
    if (text === undefined) return change;
    const { whole, checkFields } = (this.stored.get(change.collection) as StoredTable).codec;
    const stored = whole.read(text) as Fields;
    const merged = Object.fromEntries(patches.map(([name, patch]) => [name, toMerged(stored[name], patch)]));
    return checkFields(merged) ? undefined : { ...change, record: { ...change.record, ...merged } };
  }

  *#edit(table: Table, change: Change, now: string): SqlSteps<string | undefined> {
    const statement = new Statement(this.dialect);
    const set = table.fields.flatMap((field) => {
      const value = toNewValue(field, change, now, statement);
      return value === undefined ? [] : [`${field.column} = ${value}`];
    });
    // An update without any fields to change must still return the record. The statement then sets one column to the
    // value that it already has, because SQL does not allow an empty SET.
    const [{ column }] = table.newFields as [Field];
    const sql = `UPDATE ${this.#nameOf(table)} SET ${set.length > 0 ? set : `${column} = ${column}`} WHERE ${toWhere(table, change, statement)}
      RETURNING ${this.dialect.toJsonSql(table)}`;
    return toText(yield { sql, values: statement.values });
  }

  *#remove(table: Table, change: Change): SqlSteps<string | undefined> {
    const statement = new Statement(this.dialect);
    const sql = `DELETE FROM ${this.#nameOf(table)} WHERE ${toWhere(table, change, statement)} RETURNING 1`;
    return (yield { sql, values: statement.values }).length > 0 ? 'true' : undefined;
  }

  /**
   * Reads a whole record as JSON. Returns undefined if the record does not exist, belongs to another tenant, or does
   * not contain all the values in `wanted`.
   */
  *read(
    table: Table,
    id: unknown,
    tenant: unknown,
    wanted?: Fields,
    toJsonSql = this.dialect.toJsonSql,
  ): SqlSteps<string | undefined> {
    const statement = new Statement(this.dialect);
    const sql = `SELECT ${toJsonSql(table)} FROM ${this.#nameOf(table)}
      WHERE ${toWhere(table, { id, tenant, if: wanted }, statement)}`;
    return toText(yield { sql, values: statement.values });
  }

  /** Reads a record of the tenant as JSON, without its internal columns. */
  readShown(table: Table, id: unknown, tenant: unknown): SqlSteps<string | undefined> {
    return this.read(table, id, tenant, undefined, this.dialect.toShownSql);
  }

  #nameOf(table: Pick<Table, 'name'>): string {
    return this.dialect.nameOf(table);
  }
}

const toText = (rows: unknown[][]) => rows[0]?.[0] as string | undefined;

/** Returns the value of a field in a new record: `now` if the field contains a time that the store sets. */
const toFirst = ({ set }: Field, value: unknown, now: string) => (set === 'created' || set === 'changed' ? now : value);

/** Returns SQL of the new value of a field; undefined if the change does not write the field. */
function toNewValue(field: Field, { kind, record, add }: Change, now: string, statement: Statement) {
  const { name, column, set, is } = field;
  if (set === 'revision') return `${column} + 1`;
  if (set === 'changed') return statement.bind(field, now);
  if (set !== undefined || is === 'id') return undefined;
  if (add[name] !== undefined) return statement.toSum(field, add[name]);
  if (kind === 'update' && record[name] === undefined) return undefined;
  // Null in an update removes the field if it is optional but may not be null.
  const isGone = kind === 'update' && record[name] === null && !field.isNullable;
  return statement.bind(field, isGone ? undefined : record[name]);
}

function toWhere(
  { id, tenant, fields }: Table,
  { id: value, tenant: mine, if: wanted = {} }: Pick<Change, 'id' | 'tenant' | 'if'>,
  statement: Statement,
): string {
  const conditions = fields
    .filter(({ name }) => name in wanted)
    .map((field) => toCondition(field, wanted[field.name], statement));
  if (tenant) conditions.push(toEquality(tenant, mine, statement));
  return [...conditions, toEquality(id, toStored(id, value), statement)].join(' AND ');
}

/** A condition that is false for every record. */
const NO_RECORD = '1 = 0';

const toEquality = (field: Field, value: unknown, statement: Statement) =>
  isStorable(value) ? `${field.column} = ${statement.bind(field, value)}` : NO_RECORD;

function toCondition(field: Field, value: unknown, statement: Statement): string {
  if (field.type !== 'json' && !isStorable(value)) return NO_RECORD;
  if (field.type === 'json' || !Array.isArray(value))
    return `${statement.toCompared(field)} IS NOT DISTINCT FROM ${statement.toCompared(field, value)}`;
  return `(${[NO_RECORD, ...value.map((one) => toCondition(field, one, statement))].join(' OR ')})`;
}

/**
 * A violated constraint, as a database reports it. For a foreign key, `isLost` returns whether the violated key belongs
 * to the given relation.
 */
type Violation = { kind: 'unique'; columns: string[] } | { kind: 'reference'; isLost: (of: Relation) => boolean };

/**
 * Returns the code of the refusal for a change that violates a constraint. Returns undefined if the description
 * declares no code for this constraint.
 */
export function refusalCodeOf(
  { kind }: Change,
  { key, unique, relations }: Table,
  violation: Violation,
): string | undefined {
  if (violation.kind === 'reference') {
    if (kind === 'delete') return 'referenced';
    const parent = relations.find(violation.isLost)?.parent;
    return parent && `no_such_${parent.collection}`;
  }
  const { columns } = violation;
  if (areSame(columns, key)) return 'exists';
  return unique.find((one) => areSame(one.columns, columns))?.code;
}

/** Whether both lists contain the same columns, in any order. */
export const areSame = (columns: readonly string[], others: readonly string[]) =>
  columns.toSorted().join() === others.toSorted().join();

/**
 * Adds a space before the text of a record, to mark that `put` has created the record. For a change with an
 * `Idempotency-Key`, the answer is stored with this mark.
 */
export const toNewText = (text: string) => ` ${text}`;
export const isNewText = (text: string) => text.startsWith(' ');
