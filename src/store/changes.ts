/** Changes of records, one after the other within a transaction: the statements of both databases, which differ in their dialects. */
import type { Asking } from './asking.ts';
import type { Fields } from './collection.ts';
import { type Dialect, Statement } from './statement.ts';
import { type Field, perTable, type Relation, type Table } from './table.ts';
import type { Call, Change, KnownKey, Outcome } from './write.ts';

/** Makes the statements of changes, each of one record. */
export class Changes {
  readonly dialect: Dialect;
  readonly #tables: ReadonlyMap<string, Table>;

  constructor(dialect: Dialect, tables: readonly Table[]) {
    this.dialect = dialect;
    this.#tables = new Map(tables.map((table) => [table.collection, table]));
  }

  tableOf({ collection }: Change): Table {
    return this.#tables.get(collection) as Table;
  }

  /** `now` is the time of all changes of a batch. */
  *run(change: Change, now: string): Asking<Outcome> {
    const { kind, id } = change;
    const table = this.tableOf(change);
    if (change.all) return yield* this.#insertAll(table, change, change.all, now);
    if (kind === 'create') return yield* this.#insert(table, change, now);
    const text = kind === 'delete' ? yield* this.#remove(table, change) : yield* this.#edit(table, change, now);
    if (text !== undefined) return { text };
    if (change.if) return (yield* this.read(table, id, change.tenant)) === undefined ? {} : { refused: 'changed' };
    return kind === 'put' ? yield* this.#insert(table, change, now) : {};
  }

  /** Rows of a statement that only reads. */
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
    const places = newFields.map((field, index) => this.dialect.place(index + 1, field));
    return `INSERT INTO ${this.#nameOf(table)} (${newFields.map(({ column }) => column)})
      VALUES (${places}) RETURNING ${this.dialect.toJsonSql(table)}`;
  });

  *#insertAll(table: Table, change: Change, all: Fields[], now: string): Asking<Outcome> {
    const texts: unknown[] = [];
    for (const record of all) texts.push((yield* this.#insert(table, { ...change, record }, now)).text);
    return { text: `[${texts}]` };
  }

  *#edit(table: Table, change: Change, now: string): Asking<string | undefined> {
    const statement = new Statement(this.dialect);
    const set = table.fields.flatMap((field) => {
      const value = toNewValue(field, change, now, statement);
      return value === undefined ? [] : [`${field.column} = ${value}`];
    });
    // A change of nothing answers with the record, too.
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

  /** The record as JSON, where it is the tenant's. */
  *read(table: Table, id: unknown, tenant: unknown): Asking<string | undefined> {
    const statement = new Statement(this.dialect);
    const sql = `SELECT ${this.dialect.toJsonSql(table)} FROM ${this.#nameOf(table)}
      WHERE ${toWhere(table, { id, tenant, if: undefined }, statement)}`;
    const rows = yield { sql, values: statement.values };
    return rows[0]?.[0] as string | undefined;
  }

  #nameOf(table: Table): string {
    return this.dialect.nameOf(table);
  }
}

/** A new record's value. */
const toFirst = ({ set }: Field, value: unknown, now: string) => (set === 'created' || set === 'changed' ? now : value);

/** SQL of a field's new value; undefined where it stays. */
function toNewValue(field: Field, { kind, record, add }: Change, now: string, statement: Statement) {
  const { name, column, set, is } = field;
  if (set === 'revision') return `${column} + 1`;
  if (set === 'changed') return statement.bind(field, now);
  if (set !== undefined || is === 'id') return undefined;
  if (add[name] !== undefined) return statement.toSum(field, add[name]);
  if (kind === 'update' && record[name] === undefined) return undefined;
  // An update takes an optional field away by null.
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
  if (tenant) conditions.push(`${tenant.column} = ${statement.bind(tenant, mine)}`);
  return [...conditions, `${id.column} = ${statement.bind(id, value)}`].join(' AND ');
}

function toCondition(field: Field, value: unknown, statement: Statement): string {
  if (field.type === 'json' || !Array.isArray(value))
    return `${statement.toCompared(field)} IS NOT DISTINCT FROM ${statement.toCompared(field, value)}`;
  return `(${['1 = 0', ...value.map((one) => toCondition(field, one, statement))].join(' OR ')})`;
}

/** What a database says of a change that its constraints do not allow. */
export type Violation =
  | { kind: 'unique'; columns: string[] }
  | { kind: 'reference'; isLost: (of: Relation) => boolean };

/** Why the change is refused; undefined where its description does not say. */
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

/** In any order. */
export const areSame = (columns: readonly string[], others: readonly string[]) =>
  columns.toSorted().join() === others.toSorted().join();

/** White space before it says that `put` has created the record, also when it is answered again. */
const toNewText = (text: string) => ` ${text}`;
export const isNewText = (text: string) => text.startsWith(' ');

/** What its key has come to before; undefined where the change is to be done. */
export function toKnown({ idempotency }: Change | Call, known: KnownKey | undefined): Outcome | undefined {
  if (!known) return undefined;
  return known.digest === idempotency?.digest ? { text: known.text, isReplayed: true } : { refused: 'key_reused' };
}

/** Whether the outcome is kept with the key: what was refused, or met no record, may be tried again. */
export const isKept = ({ text, refused }: Outcome) => text !== undefined && refused === undefined;
