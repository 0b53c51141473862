/** The statements that change records, for both databases, which differ in their dialects. */
import { toMerged } from '../json/merge-patch.ts';
import type { Asking } from './asking.ts';
import type { Fields } from './collection.ts';
import type { Kept } from './kept.ts';
import { type Dialect, Statement } from './statement.ts';
import { type Field, perTable, type Relation, type Table } from './table.ts';
import { isStorable } from './texts.ts';
import { toStored } from './values.ts';
import type { Change, Outcome } from './write.ts';

/** Makes and runs the statements of a change. */
export class Changes {
  readonly dialect: Dialect;
  readonly #kept: ReadonlyMap<string, Kept>;

  constructor(dialect: Dialect, kept: readonly Kept[]) {
    this.dialect = dialect;
    this.#kept = new Map(kept.map((one) => [one.table.collection, one]));
  }

  tableOf({ collection }: Change): Table {
    return (this.#kept.get(collection) as Kept).table;
  }

  /** Runs a change. `now` is the time of all changes of a batch. */
  *run(change: Change, now: string): Asking<Outcome> {
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

  /** The rows of a team's own statement, which only reads. */
  *select(texts: readonly string[], values: readonly unknown[]): Asking<Fields[]> {
    const sql = texts.reduce((before, text, index) => `${before}${this.dialect.mark(index)}${text}`);
    return (yield { sql, values: [...values], isOwn: true }) as unknown as Fields[];
  }

  *#insert(table: Table, { kind, record }: Change, now: string): Asking<Outcome> {
    const values = table.newFields.map((field) => this.dialect.toValue(field, toFirst(field, record[field.name], now)));
    const [[text]] = (yield { sql: this.#toInsertSql(table), values }) as [[string]];
    return { text: kind === 'put' ? toNewText(text) : text };
  }

  readonly #toInsertSql = perTable((table) => {
    const { newFields } = table;
    const deleted = `(SELECT revision FROM ${this.#nameOf({ name: 'deleted_revisions' })} WHERE name = '${table.name}')`;
    const places = newFields.map((field, index) => {
      const place = this.dialect.place(index + 1, field);
      // A record with the id of a deleted one has none of its revisions, which are entity tags.
      return field.set === 'revision' && table.id.is ? `${place} + coalesce(${deleted}, 0)` : place;
    });
    return `INSERT INTO ${this.#nameOf(table)} (${newFields.map(({ column }) => column)})
      VALUES (${places}) RETURNING ${this.dialect.toJsonSql(table)}`;
  });

  *#insertAll(table: Table, change: Change, all: Fields[], now: string): Asking<Outcome> {
    const texts: unknown[] = [];
    for (const record of all) texts.push((yield* this.#insert(table, { ...change, record }, now)).text);
    return { text: `[${texts}]` };
  }

  /** The change with its objects merged into those of the record; undefined if these would not fit their schema. */
  *#merge(table: Table, change: Change): Asking<Change | undefined> {
    const patches = Object.entries(change.merge ?? {});
    const text = patches.length > 0 ? yield* this.read(table, change.id, change.tenant, change.if) : undefined;
    if (text === undefined) return change;
    const { read, checkFields } = (this.#kept.get(change.collection) as Kept).shape;
    const stored = read(text) as Fields;
    const merged = Object.fromEntries(patches.map(([name, patch]) => [name, toMerged(stored[name], patch)]));
    return checkFields(merged) ? undefined : { ...change, record: { ...change.record, ...merged } };
  }

  *#edit(table: Table, change: Change, now: string): Asking<string | undefined> {
    const statement = new Statement(this.dialect);
    const set = table.fields.flatMap((field) => {
      const value = toNewValue(field, change, now, statement);
      return value === undefined ? [] : [`${field.column} = ${value}`];
    });
    // An update without changes must return the record, too.
    const [{ column }] = table.newFields as [Field];
    const sql = `UPDATE ${this.#nameOf(table)} SET ${set.length > 0 ? set : `${column} = ${column}`} WHERE ${toWhere(table, change, statement)}
      RETURNING ${this.dialect.toJsonSql(table)}`;
    const rows = yield { sql, values: statement.values };
    return rows[0]?.[0] as string | undefined;
  }

  *#remove(table: Table, change: Change): Asking<string | undefined> {
    const statement = new Statement(this.dialect);
    const sql = `DELETE FROM ${this.#nameOf(table)} WHERE ${toWhere(table, change, statement)} RETURNING 1`;
    const rows = yield { sql, values: statement.values };
    return rows.length > 0 ? 'true' : undefined;
  }

  /** The record as JSON, if it is the tenant's, and has these values. */
  *read(table: Table, id: unknown, tenant: unknown, wanted?: Fields): Asking<string | undefined> {
    const statement = new Statement(this.dialect);
    const sql = `SELECT ${this.dialect.toJsonSql(table)} FROM ${this.#nameOf(table)}
      WHERE ${toWhere(table, { id, tenant, if: wanted }, statement)}`;
    const rows = yield { sql, values: statement.values };
    return rows[0]?.[0] as string | undefined;
  }

  #nameOf(table: Pick<Table, 'name'>): string {
    return this.dialect.nameOf(table);
  }
}

/** A field's value in a new record. */
const toFirst = ({ set }: Field, value: unknown, now: string) => (set === 'created' || set === 'changed' ? now : value);

/** SQL of a field's new value; undefined if it stays. */
function toNewValue(field: Field, { kind, record, add }: Change, now: string, statement: Statement) {
  const { name, column, set, is } = field;
  if (set === 'revision') return `${column} + 1`;
  if (set === 'changed') return statement.bind(field, now);
  if (set !== undefined || is === 'id') return undefined;
  if (add[name] !== undefined) return statement.toSum(field, add[name]);
  if (kind === 'update' && record[name] === undefined) return undefined;
  // In an update, null removes an optional field.
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

/** A condition that no record meets. */
const NEVER = '1 = 0';

const toEquality = (field: Field, value: unknown, statement: Statement) =>
  isStorable(value) ? `${field.column} = ${statement.bind(field, value)}` : NEVER;

function toCondition(field: Field, value: unknown, statement: Statement): string {
  if (field.type !== 'json' && !isStorable(value)) return NEVER;
  if (field.type === 'json' || !Array.isArray(value))
    return `${statement.toCompared(field)} IS NOT DISTINCT FROM ${statement.toCompared(field, value)}`;
  return `(${[NEVER, ...value.map((one) => toCondition(field, one, statement))].join(' OR ')})`;
}

/** A violated constraint, as a database reports it. */
export type Violation =
  | { kind: 'unique'; columns: string[] }
  | { kind: 'reference'; isLost: (of: Relation) => boolean };

/** The code with which the change is refused; undefined if the description has none for this constraint. */
export function toRefusal(
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

/** Whether both have the same columns, in any order. */
export const areSame = (columns: readonly string[], others: readonly string[]) =>
  columns.toSorted().join() === others.toSorted().join();

/** Leading white space marks a record that `put` has created; it is stored with an `Idempotency-Key`, too. */
export const toNewText = (text: string) => ` ${text}`;
export const isNewText = (text: string) => text.startsWith(' ');
